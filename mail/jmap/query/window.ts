import { integer, nullable, optional, type Reader, unsigned, bool, id } from '../arguments.ts';
import { MOST_IN_QUERY } from '../limits.ts';

/** Which part of the results is asked for. RFC 8620 5.5. */
export interface Window {
  /** Negative: from the end. */
  position: number;
  anchorOffset: number;
  limit: number;
  calculateTotal: boolean;
}

/** The arguments of every /query that say which part. */
export const WINDOW = {
  position: optional(integer, 0),
  anchor: nullable(id),
  anchorOffset: optional(integer, 0),
  limit: nullable(unsigned),
  calculateTotal: optional(bool, false),
} satisfies Record<string, Reader<unknown>>;

/** The limit that holds, and whether it is another than the client's. */
export function limitOf(asked: number | null): { limit: number; ours: boolean } {
  const ours = asked === null || asked > MOST_IN_QUERY;
  return { limit: ours ? MOST_IN_QUERY : asked, ours };
}
