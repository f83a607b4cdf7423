import type { Read } from '../../store/engine/types.ts';
import { SYSTEM_KEYWORDS } from './keyword-argument.ts';

/** Thrown when a query exceeds its time or its number of emails. */
export class QueryTooExpensive extends Error {
  override readonly name = 'TooLong';
}

/** State that all matchers of one query share. */
export interface EmailQueryContext {
  readonly rx: Read;
  readonly account: number;
  /** Directory of blob files. */
  readonly blobs: string;
  /** The only mailboxes that the reader sees; undefined: all. */
  readonly within: ReadonlySet<number> | undefined;
  /** The bit of a keyword in `flags`; undefined if it is stored in `kw`. */
  bit(keyword: string): number | undefined;
  /** Counts examined emails. Throws {@link QueryTooExpensive} after the maximum time or number. */
  charge(emails: number): void;
  /** Checks whether time is left to continue only for the total. */
  mayCount(): boolean;
}

/** Maximum time of one query. */
const MAX_QUERY_MS = 10_000;
/** Maximum time after which only the total is missing. */
const MAX_COUNT_MS = 1_000;

/** Opens the context of one query. `most` limits the emails it examines. */
export async function openQueryContext(
  rx: Read,
  { account, blobs, within }: { account: number; blobs: string; within?: readonly number[] | undefined },
  most = Number.POSITIVE_INFINITY,
): Promise<EmailQueryContext> {
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
    within: within && new Set(within),
    bit: (keyword) => SYSTEM_KEYWORDS.get(keyword) ?? slots.get(keyword),
    charge(emails) {
      left -= emails;
      if (left < 0 || performance.now() - began > MAX_QUERY_MS) throw new QueryTooExpensive('a query takes too long');
    },
    mayCount: () => performance.now() - began <= MAX_COUNT_MS,
  };
}
