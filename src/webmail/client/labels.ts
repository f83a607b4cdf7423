import { computed, signal } from '@preact/signals';
import { labelsOf } from './label-names.ts';
import { openThread } from './mail-state.ts';
import { threadList } from './thread-list.ts';

const STORE_KEY = 'mailstead:labels';
const MAX_REMEMBERED = 200;
const remembered = signal<readonly string[]>(readRemembered());

function readRemembered(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORE_KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

/** Offers a label again that was used in this browser. */
export function rememberLabel(label: string): void {
  remembered.value = [...new Set([label, ...remembered.value])].slice(0, MAX_REMEMBERED);
  localStorage.setItem(STORE_KEY, JSON.stringify(remembered.value));
}

/** Labels to choose from: those of loaded messages, and those used in this browser. */
export const knownLabels = computed(() => {
  const seen = labelsOf([...[...threadList.value.rows.values()].flatMap(({ emails }) => emails), ...openThread.value]);
  return [...new Set([...seen, ...remembered.value])].toSorted();
});
