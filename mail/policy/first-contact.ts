/** Facts about a message from outside after DATA. */
export interface FirstContact {
  /** Every recipient knows the author or wrote to it. */
  known: boolean;
  /** The author is authenticated. */
  vouched: boolean;
  /** Sum of the finding scores. */
  score: number;
}

const MAX_DELAY_MS = 5000;

/**
 * Returns the delay of the reply to a first message, ms. Bulk senders do not wait, and real mail servers do not mind. Known
 * senders are not delayed.
 */
export function firstContactDelay({ known, vouched, score }: FirstContact): number {
  if (known) return 0;
  if (score >= 2.5) return MAX_DELAY_MS;
  return vouched ? 1000 : 3000;
}
