import { createHash } from 'node:crypto';

import { RecentMap } from '../guard/recent-map.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export interface ThrottleLimits {
  /** Failures from one address (IPv6: one /64) in any minute, and in a day counted from the first. */
  perMinute: number;
  perDay: number;
  /** Failures for one account in a day, from anywhere, after which it is guessed at slowly. */
  accountPerDay: number;
  /** An account under attack stays open to addresses with fewer failures than this today... */
  accountTries: number;
  /** ...after this delay, in ms. */
  accountDelay: number;
  /** Addresses, and accounts, remembered at most. */
  entries: number;
}

export const THROTTLE_LIMITS: ThrottleLimits = {
  perMinute: 10,
  perDay: 50,
  accountPerDay: 100,
  accountTries: 3,
  accountDelay: 3000,
  entries: 80_000, // at most 40 MB with ten failures each
};

/** Who tries to log in as whom, in the form that is counted. */
export interface Attempt {
  readonly network: string;
  /** Undefined when the user name is not an address, so that there is no account to protect. */
  readonly account: string | undefined;
}

/** `delay` in ms, `retryAfter` in seconds. */
export type Admission = { kind: 'go'; delay: number } | { kind: 'throttled'; retryAfter: number };

interface Failures {
  /** Times of the failures of the last minute, ascending. */
  recent: number[];
  dayStart: number;
  day: number;
  last: number;
}

/**
 * Counts failed logins and decides who must wait. All doors share one. Nothing is ever locked for the owner: an account
 * under attack is closed to the addresses that guess at it and open, a little slower, to every other.
 */
export class Throttle {
  readonly #limits: ThrottleLimits;
  readonly #networks: RecentMap<string, Failures>;
  readonly #accounts: RecentMap<string, Failures>;

  constructor(limits: Partial<ThrottleLimits> = {}) {
    this.#limits = { ...THROTTLE_LIMITS, ...limits };
    this.#networks = new RecentMap(this.#limits.entries);
    this.#accounts = new RecentMap(this.#limits.entries);
  }

  /** How many addresses and accounts are remembered. */
  get size(): number {
    return this.#networks.size + this.#accounts.size;
  }

  /** Decides without counting. */
  look(attempt: Attempt, now: number): Admission {
    const { perMinute, perDay, accountPerDay, accountTries, accountDelay } = this.#limits;
    const from = standing(this.#networks.get(attempt.network), now);
    if (from.day >= perDay) return throttled(from.dayStart + DAY_MS - now);
    if (from.recent.length >= perMinute) return throttled((from.recent[0] ?? now) + MINUTE_MS - now);
    if (attempt.account === undefined) return { kind: 'go', delay: 0 };
    const at = standing(this.#accounts.get(attempt.account), now);
    if (at.day < accountPerDay) return { kind: 'go', delay: 0 };
    if (from.day >= accountTries) return throttled(Math.min(from.dayStart, at.dayStart) + DAY_MS - now);
    return { kind: 'go', delay: accountDelay };
  }

  /**
   * Decides, and counts the attempt as failed until {@link forgive} takes that back. Counting first means that attempts
   * side by side cannot all pass before one of them is seen to fail.
   */
  admit(attempt: Attempt, now: number): Admission {
    const admission = this.look(attempt, now);
    if (admission.kind === 'throttled') return admission;
    count(this.#networks, attempt.network, now, this.#limits.perMinute);
    if (attempt.account !== undefined) count(this.#accounts, attempt.account, now, 0);
    return admission;
  }

  /** The attempt admitted at `at` was a success: it does not count. */
  forgive(attempt: Attempt, at: number): void {
    uncount(this.#networks, attempt.network, at);
    if (attempt.account !== undefined) uncount(this.#accounts, attempt.account, at);
  }
}

/** The form under which an account is counted: short, whatever a peer sends. */
export function accountKeyOf(user: string): string {
  return createHash('sha256').update(user).digest().toString('base64', 0, 12);
}

function throttled(ms: number): Admission {
  return { kind: 'throttled', retryAfter: Math.max(1, Math.ceil(ms / 1000)) };
}

/** What still counts now. Times well in the future come from a clock that was set back, and do not. */
function standing(failures: Failures | undefined, now: number): Failures {
  if (!failures || isOver(failures, now)) return { recent: [], dayStart: now, day: 0, last: now };
  const recent = failures.recent.filter((time) => now - time < MINUTE_MS);
  return now - failures.dayStart >= DAY_MS ? { recent, dayStart: now, day: 0, last: now } : { ...failures, recent };
}

function isOver(failures: Failures, now: number): boolean {
  return failures.last > now + MINUTE_MS || now - failures.last >= DAY_MS;
}

function count(map: RecentMap<string, Failures>, key: string, now: number, recentLimit: number): void {
  map.purge((one) => isOver(one, now));
  const { recent, dayStart, day } = standing(map.get(key), now);
  map.set(key, { recent: [...recent, now].slice(0, recentLimit), dayStart, day: day + 1, last: now });
}

function uncount(map: RecentMap<string, Failures>, key: string, at: number): void {
  const failures = map.get(key);
  if (!failures || failures.day === 0) return;
  failures.day -= 1;
  const position = failures.recent.lastIndexOf(at);
  if (position >= 0) failures.recent.splice(position, 1);
  if (failures.day === 0) map.delete(key);
}
