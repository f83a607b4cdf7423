const minutes = (n: number): number => n * 60_000;
const hours = (n: number): number => minutes(60 * n);
const days = (n: number): number => hours(24 * n);

const STEPS: readonly number[] = [0, 5, 15, 30, 60, 120, 240].map(minutes);
const LAST_STEP = hours(4);
const JITTER = 0.1;

/** No attempt is ever put off further than this, in ms: a row that is due later was written by a clock that ran ahead. */
export const LONGEST_WAIT = LAST_STEP * (1 + JITTER);

/** How long a message is tried, in ms. RFC 5321 4.5.4.1. */
export const LIFETIME = days(5);

/** How long a message with the null reverse-path is tried: nobody waits for a bounce, and nobody is told of its failure. */
export const BOUNCE_LIFETIME = days(1);

/** When the sender is told, once, that a message is still on its way. */
export const DELAY_NOTICE = hours(4);

const FEWEST_ATTEMPTS = 8;

/** What is known of the attempts for one recipient. */
export interface Tried {
  /** Attempts made so far. */
  attempts: number;
  /** When the message was queued, ms UTC. */
  since: number;
  /** How long it is tried, ms. */
  lifetime: number;
}

/**
 * When a message is tried again, ms UTC, or undefined when it is given up. `jitter` is the factor of {@link jitter}.
 * A message is given up only when it is both old and tried often: a clock that jumps five days must not bounce what was
 * tried once. RFC 5321 4.5.4.1.
 */
export function nextAttempt(tried: Tried, now: number, jitter: number): number | undefined {
  const tooOld = now - tried.since >= tried.lifetime;
  if (tooOld && tried.attempts >= FEWEST_ATTEMPTS) return undefined;
  return now + Math.round((STEPS[tried.attempts] ?? LAST_STEP) * jitter);
}

/** A factor of 0.9 to 1.1, so that what was queued together does not come back together. `random` is in [0, 1). */
export function jitter(random: () => number): number {
  return 1 - JITTER + 2 * JITTER * random();
}
