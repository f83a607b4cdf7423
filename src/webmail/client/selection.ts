import { signal } from '@preact/signals';
import type { ThreadRow } from './mail-state.ts';
import { listKey, listOfRoute, threadList } from './thread-list.ts';

/** All conversations of a list, also those that are not loaded. */
interface WholeList {
  /** Key of the list. */
  key: string;
  /** Ids of conversations that are left out. */
  except: ReadonlySet<string>;
}

/** Conversations that are selected as rows. More of them are a whole list, which is acted on in batches. */
const MAX_ROWS = 40;

/** Ids of conversations that are selected by their check boxes. */
const picked = signal<ReadonlySet<string>>(new Set());
const whole = signal<WholeList | undefined>(undefined);

/** The whole list, if it is selected. */
export function wholeList(): WholeList | undefined {
  return whole.value?.key === listKey() ? whole.value : undefined;
}

export function clearSelection(): void {
  picked.value = new Set();
  whole.value = undefined;
}

/** True if all conversations of the open list are selected. */
export function isAllSelected(): boolean {
  const { total } = listOfRoute();
  return total > 0 && selectedCount() >= total;
}

/** Selects all conversations of the open list, or none if all are selected. */
export function toggleWholeList(): void {
  if (isAllSelected()) return clearSelection();
  const { key, total, rows } = listOfRoute();
  if (total === 0) return;
  const ids = [...rows.values()].map(({ id }) => id);
  const isLoaded = total <= MAX_ROWS && ids.length === total;
  picked.value = new Set(isLoaded ? ids : []);
  whole.value = isLoaded ? undefined : { key, except: new Set() };
}

export function isSelected(id: string): boolean {
  const all = wholeList();
  return all === undefined ? picked.value.has(id) : !all.except.has(id);
}

/** Number of conversations that are selected. */
export function selectedCount(): number {
  const all = wholeList();
  return all === undefined ? picked.value.size : Math.max(0, listOfRoute().total - all.except.size);
}

/** Selects a conversation, or takes it out of the selection. */
export function toggleSelected(id: string): void {
  const all = wholeList();
  if (all === undefined) picked.value = toggled(picked.value, id);
  else whole.value = { ...all, except: toggled(all.except, id) };
}

function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** Rows that are selected and loaded. */
export function selectedRows(): ThreadRow[] {
  return [...threadList.value.rows.values()].filter(({ id }) => isSelected(id));
}
