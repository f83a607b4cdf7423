import type { Read } from '../../store/engine/types.ts';
import { SYSTEM_KEYWORDS } from './keyword.ts';

/** A query that goes on for too long: the client is told to ask for less. */
export class TooLong extends Error {
  override readonly name = 'TooLong';
}

/** What all tests of one query share. */
export interface Scene {
  readonly rx: Read;
  readonly account: number;
  /** Directory of blob files. */
  readonly blobs: string;
  /** The bit of a keyword in `flags`, or undefined when it stands in `kw`. */
  bit(keyword: string): number | undefined;
  /** Counts emails that were looked at. Throws {@link TooLong} when time is up, or they are too many. */
  looked(emails: number): void;
  /** Whether it may go on only to say how many there are. */
  mayCount(): boolean;
}

/** How long one query may hold its thread. */
const LONGEST_MS = 10_000;
/** How long it may when nothing but the total is left to find out. */
const LONGEST_COUNT_MS = 1_000;

/** `most`: emails that the query may look at. */
export async function openScene(
  rx: Read,
  { account, blobs }: { account: number; blobs: string },
  most = Number.POSITIVE_INFINITY,
): Promise<Scene> {
  const rows = await rx.all<{ lname: string; slot: number }>(
    'SELECT lname, slot FROM keyword WHERE account_id = ?',
    account,
  );
  const slots = new Map(rows.map(({ lname, slot }) => [lname, 1 << slot]));
  const began = performance.now();
  let left = most;
  return {
    rx,
    account,
    blobs,
    bit: (keyword) => SYSTEM_KEYWORDS.get(keyword) ?? slots.get(keyword),
    looked(emails) {
      left -= emails;
      if (left < 0 || performance.now() - began > LONGEST_MS) throw new TooLong('a query takes too long');
    },
    mayCount: () => performance.now() - began <= LONGEST_COUNT_MS,
  };
}
