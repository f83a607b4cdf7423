import { signal } from '@preact/signals';
import { MailError } from './mail-error.ts';
import { t } from './translate.ts';

/** An action on many messages that is carried out in batches. */
export interface BatchRun {
  /** The action, for the reader. */
  label: string;
  /** Items that are done, of `total`. */
  done: number;
  total: number;
  isCancelled: boolean;
}

/** The action that runs now. */
export const batchRun = signal<BatchRun | undefined>(undefined);

/** Shows the progress of an action in batches, and reports that the reader stopped it. */
export interface BatchControl {
  isCancelled(): boolean;
  report(done: number, total: number): void;
}

/** Stops the action that runs, after its current batch. */
export function cancelBatches(): void {
  if (batchRun.value !== undefined) batchRun.value = { ...batchRun.value, isCancelled: true };
}

/** Runs an action in batches. Only one runs at a time: two could move the same messages to and fro. */
export async function runInBatches<Result>(
  label: string,
  total: number,
  work: (control: BatchControl) => Promise<Result>,
): Promise<Result> {
  if (batchRun.value !== undefined) throw new MailError(t('batch.running'));
  batchRun.value = { label, done: 0, total, isCancelled: false };
  try {
    return await work({
      isCancelled: () => batchRun.value?.isCancelled === true,
      report(done, all) {
        if (batchRun.value !== undefined) batchRun.value = { ...batchRun.value, done, total: all };
      },
    });
  } finally {
    batchRun.value = undefined;
  }
}

/** Runs `work` on each batch in turn until the reader stops it. Returns the number of items that are done. */
export async function eachBatch<Item>(
  control: BatchControl,
  batches: readonly (readonly Item[])[],
  work: (batch: readonly Item[]) => Promise<void>,
): Promise<number> {
  const total = batches.reduce((sum, { length }) => sum + length, 0);
  let done = 0;
  control.report(done, total);
  for (const batch of batches) {
    if (control.isCancelled()) break;
    await work(batch);
    done += batch.length;
    control.report(done, total);
  }
  return done;
}
