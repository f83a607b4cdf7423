import { signal } from '@preact/signals';
import { MailError, SignedOut } from './jmap.ts';
import { t } from './translate.ts';

/** A line at the bottom: what was done, with its undo, or what failed. */
export interface NoticeLine {
  text: string;
  bad: boolean;
  undo?: (() => Promise<void>) | undefined;
}

export const notice = signal<NoticeLine | undefined>(undefined);

const SHOWN_MS = 8_000;
let timer: ReturnType<typeof setTimeout> | undefined;

export function showNotice(text: string, undo?: () => Promise<void>, shownMs = SHOWN_MS): void {
  show({ text, bad: false, undo }, shownMs);
  if (undo !== undefined) lastUndo = undo;
}

/** Shows what failed; what was done until then can be taken back. */
export function showProblem(text: string, undo?: () => Promise<void>): void {
  show({ text, bad: true, undo }, SHOWN_MS * 2);
  if (undo !== undefined) lastUndo = undo;
}

/** Takes the last action back, also after its line has gone. */
let lastUndo: (() => Promise<void>) | undefined;

/** Takes the last action back, once. If that fails, it can be tried again. */
export async function undoLast(): Promise<void> {
  const undo = lastUndo;
  lastUndo = undefined;
  if (undo === undefined) return showNotice(t('done.nothing'));
  try {
    await undo();
  } catch (error) {
    lastUndo ??= undo;
    throw error;
  }
}

function show(line: NoticeLine, shownMs: number): void {
  clearTimeout(timer);
  notice.value = line;
  timer = setTimeout(hideNotice, shownMs);
}

export function hideNotice(): void {
  notice.value = undefined;
}

/** Runs an action of the reader; its failure is shown, never lost. */
export async function attempt(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (error instanceof SignedOut) location.assign('/mail/sign-in');
    else if (error instanceof MailError) showProblem(error.message);
    else throw error;
  }
}
