import type { Read, Row, Value } from './types.ts';

/** A statement that {@link Reads} awaits the rows of. */
export interface ReadStatement {
  sql: string;
  params: readonly Value[];
}

/**
 * Reads that are written once for an engine that answers at once and for one that answers later: a statement is
 * yielded, and its rows are returned to it.
 */
export type Reads<T> = Generator<ReadStatement, T, Row[]>;

/** Runs reads. `snapshot` runs what follows the first statement; it is not called if there is none. */
export function runReads<T>(reads: Reads<T>, snapshot: (body: (all: AllRows) => T) => T): T {
  const first = reads.next();
  if (first.done === true) return first.value;
  return snapshot((all) => {
    let step: IteratorResult<ReadStatement, T> = first;
    while (step.done !== true) {
      const { sql, params } = step.value;
      step = reads.next(all(sql, params));
    }
    return step.value;
  });
}

/** Returns the rows of a statement at once. */
export type AllRows = (sql: string, params: readonly Value[]) => Row[];

/** Runs reads on an engine that answers later. */
export async function runReadsLater<T>(
  reads: Reads<T>,
  snapshot: (body: (rx: Read) => Promise<T>) => Promise<T>,
): Promise<T> {
  const first = reads.next();
  if (first.done === true) return first.value;
  return snapshot(async (rx) => {
    let step: IteratorResult<ReadStatement, T> = first;
    while (step.done !== true) {
      const { sql, params } = step.value;
      step = reads.next(await rx.all(sql, ...params));
    }
    return step.value;
  });
}
