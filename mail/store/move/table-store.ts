import type { StoredValue } from './row-digest.ts';

/** A table and its columns, in the order of the values of a row. */
export interface StoredTable {
  name: string;
  columns: readonly { name: string; type: 'INTEGER' | 'TEXT' | 'BLOB' | 'REAL' }[];
}

export type StoredRow = StoredValue[];

/** Tables of a server that does not run, on either engine. */
export interface TableStore {
  /** Rows in no order. */
  rows(table: StoredTable): AsyncGenerator<StoredRow>;
  /** Replaces all rows of a table, without its triggers. Committed later. */
  replace(table: StoredTable, rows: AsyncIterable<StoredRow>): Promise<void>;
  /** The last number that was given to a row of each table, which may have been deleted since. */
  numbers(): Promise<ReadonlyMap<string, bigint>>;
  /** Runs `work` in one transaction, without triggers; rows that follow get numbers above `numbers`. */
  filled(numbers: ReadonlyMap<string, bigint>, work: () => Promise<void>): Promise<void>;
}

/** Reason why mail cannot be moved, for the operator. */
export class MoveProblem extends Error {
  override readonly name = 'MoveProblem';
}

/** A list of quoted names. */
export function namesOf(columns: readonly { name: string }[]): string {
  return columns.map(({ name }) => `"${name}"`).join(', ');
}
