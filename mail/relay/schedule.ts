const minutes = (n: number): number => n * 60_000;
const hours = (n: number): number => minutes(60 * n);
const days = (n: number): number => hours(24 * n);

/** By attempts so far: the first one is at once. Later ones wait LAST_RETRY_DELAY. */
const RETRY_DELAYS: readonly number[] = [0, 5, 15, 30, 60, 120, 240].map(minutes);
const LAST_RETRY_DELAY = hours(4);
const JITTER = 0.1;

/** Maximum delay of an attempt, ms: a row that is due later was written by a clock that ran ahead. */
export const MAX_RETRY_DELAY = LAST_RETRY_DELAY * (1 + JITTER);

/** Queue lifetime of a message, ms. RFC 5321 4.5.4.1. */
export const LIFETIME = days(5);

/** Queue lifetime of a message with the null reverse-path, ms. */
export const BOUNCE_LIFETIME = days(1);

/** Time after which one delay report is sent, ms. */
export const DELAY_REPORT_AFTER = hours(4);

const MIN_ATTEMPTS = 8;

/** Retry state of one recipient. */
export interface RetryState {
  /** Attempts so far. */
  attempts: number;
  /** Queue time, ms UTC. */
  since: number;
  /** Queue lifetime, ms. */
  lifetime: number;
}

/**
 * Returns the time of the next attempt, ms UTC, or undefined if the message expires. `jitter`: factor from {@link jitter}. A
 * message expires only after its lifetime and {@link MIN_ATTEMPTS}: a clock that jumps five days must not bounce a message
 * that was tried once. RFC 5321 4.5.4.1.
 */
export function nextAttempt(tried: RetryState, now: number, jitter: number): number | undefined {
  const tooOld = now - tried.since >= tried.lifetime;
  if (tooOld && tried.attempts >= MIN_ATTEMPTS) return undefined;
  return now + Math.round((RETRY_DELAYS[tried.attempts] ?? LAST_RETRY_DELAY) * jitter);
}

/** Factor of 0.9 to 1.1, so that messages queued together are not retried together. `random` is in [0, 1). */
export function jitter(random: () => number): number {
  return 1 - JITTER + 2 * JITTER * random();
}
