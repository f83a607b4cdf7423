import { MOST_IN_QUERY } from '../limits.ts';

/** Which part of the results is asked for, its anchor aside. RFC 8620 5.5. */
export interface Window {
  /** Negative: from the end. */
  position: number;
  anchorOffset: number;
  limit: number;
  calculateTotal: boolean;
}

/** The limit that holds, and whether it is another than the client's. */
export function limitOf(asked: number | null): { limit: number; ours: boolean } {
  const ours = asked === null || asked > MOST_IN_QUERY;
  return { limit: ours ? MOST_IN_QUERY : asked, ours };
}
