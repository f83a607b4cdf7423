/** What is known of a message from outside when all of it has come. */
export interface Arriving {
  /** For every recipient: it knows the author, or wrote to it. */
  known: boolean;
  /** Something vouches for the author. */
  vouched: boolean;
  /** The sum of its findings. */
  score: number;
}

const LONGEST = 5000;

/**
 * How long the answer to a first message is held back, ms: programs that send in masses do not wait, and a person's mail
 * server does not notice. Nothing for whom the recipients know.
 */
export function firstContactDelay({ known, vouched, score }: Arriving): number {
  if (known) return 0;
  if (score >= 2.5) return LONGEST;
  return vouched ? 1000 : 3000;
}
