import { createHash } from 'node:crypto';

import type { LRUCache } from 'lru-cache';
import { deleteStale, deleteWhere, lruMap } from '../limits/lru-map.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Time for which a network with a successful login is known to the account. */
const KNOWN_NETWORK_MS = 30 * DAY_MS;

export interface ThrottleLimits {
  /** Failures from one network (IPv4 address or IPv6 /64) in any minute, and in a day from the first failure. */
  perMinute: number;
  perDay: number;
  /** Failures for one account in a day, from all networks, after which it counts as under attack. */
  accountPerDay: number;
  /** An account under attack stays open to networks with fewer failures than this in the day, */
  accountAttempts: number;
  /** after this delay, ms. */
  accountDelay: number;
  /** Capacity for networks, for accounts, and for accounts by network; the least recently used is evicted. */
  entries: number;
}

export const THROTTLE_LIMITS: ThrottleLimits = {
  perMinute: 10,
  perDay: 50,
  accountPerDay: 100,
  accountAttempts: 3,
  accountDelay: 3000,
  entries: 80_000, // at most 40 MB with ten failures each
};

/** The keys under which a login attempt is counted. */
export interface LoginAttempt {
  readonly network: string;
  /** Undefined when the user name is not an address, so that there is no account to protect. */
  readonly account: string | undefined;
}

/** `delay` in ms, `retryAfter` in seconds. */
export type ThrottleDecision = { kind: 'go'; delay: number } | { kind: 'throttled'; retryAfter: number };

/** `rollBack` undoes the count of the attempt as failed. */
export type CountedDecision =
  { kind: 'go'; delay: number; rollBack: () => void } | { kind: 'throttled'; retryAfter: number };

interface Failures {
  /** Times of the failures of the last minute, ascending. */
  recent: number[];
  dayStart: number;
  day: number;
  last: number;
}

/**
 * Counts failed logins and throttles them; shared by all protocols. An account is never locked for its owner: under
 * attack it is closed to the networks that guess, and open to others after a delay. In a network known to the account only
 * its own failures there count, so that neither other users of the address nor attackers elsewhere lock out the owner.
 */
export class Throttle {
  readonly #limits: ThrottleLimits;
  readonly #networks: LRUCache<string, Failures>;
  readonly #accounts: LRUCache<string, Failures>;
  /** By account and known network: end of validity (ms UTC), and failures. */
  readonly #known: LRUCache<string, number>;
  readonly #knownFailures: LRUCache<string, Failures>;

  constructor(limits: Partial<ThrottleLimits> = {}) {
    this.#limits = { ...THROTTLE_LIMITS, ...limits };
    this.#networks = lruMap(this.#limits.entries);
    this.#accounts = lruMap(this.#limits.entries);
    this.#known = lruMap(this.#limits.entries);
    this.#knownFailures = lruMap(this.#limits.entries);
  }

  /** Number of networks and accounts with recorded failures. */
  get size(): number {
    return this.#networks.size + this.#accounts.size + this.#knownFailures.size;
  }

  /** Decides without counting. */
  check(attempt: LoginAttempt, now: number): ThrottleDecision {
    const known = this.#knownNetworkOf(attempt, now);
    if (known !== undefined)
      return this.#limitReached(currentFailures(this.#knownFailures.get(known), now), now) ?? { kind: 'go', delay: 0 };
    const { accountPerDay, accountAttempts, accountDelay } = this.#limits;
    const from = currentFailures(this.#networks.get(attempt.network), now);
    const tooFast = this.#limitReached(from, now);
    if (tooFast !== undefined) return tooFast;
    if (attempt.account === undefined) return { kind: 'go', delay: 0 };
    const at = currentFailures(this.#accounts.get(attempt.account), now);
    if (at.day < accountPerDay) return { kind: 'go', delay: 0 };
    if (from.day >= accountAttempts) return throttled(Math.min(from.dayStart, at.dayStart) + DAY_MS - now);
    return { kind: 'go', delay: accountDelay };
  }

  /**
   * Decides, and counts the attempt as failed until it is rolled back. Counted first, so that concurrent attempts cannot
   * all pass before one of them fails.
   */
  admit(attempt: LoginAttempt, now: number): CountedDecision {
    const admission = this.check(attempt, now);
    if (admission.kind === 'throttled') return admission;
    const { perMinute } = this.#limits;
    const known = this.#knownNetworkOf(attempt, now);
    const { network, account } = attempt;
    const rollBacks =
      known !== undefined
        ? [count(this.#knownFailures, known, now, perMinute)]
        : [
            count(this.#networks, network, now, perMinute),
            ...(account === undefined ? [] : [count(this.#accounts, account, now, 0)]),
          ];
    return { ...admission, rollBack: () => rollBacks.forEach((one) => one()) };
  }

  /** Records a successful login: the network is known to the account from now on. */
  recordSuccess(attempt: LoginAttempt, now: number): void {
    const known = knownNetworkKey(attempt);
    if (known !== undefined) this.#known.set(known, now + KNOWN_NETWORK_MS);
  }

  /** True when the account was logged in to from this network: a failure there may be an old password. */
  isKnownNetwork(attempt: LoginAttempt, now: number): boolean {
    return this.#knownNetworkOf(attempt, now) !== undefined;
  }

  /** Clears the failures of a network, for all accounts. Known networks stay known. */
  clearNetwork(network: string): void {
    this.#networks.delete(network);
    deleteWhere(this.#knownFailures, (_, known) => known.endsWith(` ${network}`));
  }

  #knownNetworkOf(attempt: LoginAttempt, now: number): string | undefined {
    const known = knownNetworkKey(attempt);
    return known !== undefined && (this.#known.get(known) ?? 0) > now ? known : undefined;
  }

  #limitReached({ day, dayStart, recent }: Failures, now: number): ThrottleDecision | undefined {
    const { perMinute, perDay } = this.#limits;
    if (day >= perDay) return throttled(dayStart + DAY_MS - now);
    return recent.length >= perMinute ? throttled((recent[0] ?? now) + MINUTE_MS - now) : undefined;
  }
}

function knownNetworkKey({ network, account }: LoginAttempt): string | undefined {
  return account === undefined ? undefined : `${account} ${network}`;
}

/** The key under which an account is counted: short for any user name. */
export function accountKeyOf(user: string): string {
  return createHash('sha256').update(user).digest().toString('base64', 0, 12);
}

function throttled(ms: number): ThrottleDecision & { kind: 'throttled' } {
  return { kind: 'throttled', retryAfter: Math.max(1, Math.ceil(ms / 1000)) };
}

/** Drops expired failures. Times in the future mean that the clock was set back. */
function currentFailures(failures: Failures | undefined, now: number): Failures {
  if (!failures || isExpired(failures, now)) return { recent: [], dayStart: now, day: 0, last: now };
  const recent = failures.recent.filter((time) => now - time < MINUTE_MS);
  return now - failures.dayStart >= DAY_MS ? { recent, dayStart: now, day: 0, last: now } : { ...failures, recent };
}

function isExpired(failures: Failures, now: number): boolean {
  return failures.last > now + MINUTE_MS || now - failures.last >= DAY_MS;
}

/** Counts a failure; the returned function rolls it back. */
function count(map: LRUCache<string, Failures>, key: string, now: number, recentLimit: number): () => void {
  deleteStale(map, (one) => isExpired(one, now));
  const { recent, dayStart, day } = currentFailures(map.get(key), now);
  map.set(key, { recent: [...recent, now].slice(0, recentLimit), dayStart, day: day + 1, last: now });
  return () => uncount(map, key, now);
}

function uncount(map: LRUCache<string, Failures>, key: string, at: number): void {
  const failures = map.get(key);
  if (!failures || failures.day === 0) return;
  failures.day -= 1;
  const position = failures.recent.lastIndexOf(at);
  if (position >= 0) failures.recent.splice(position, 1);
  if (failures.day === 0) map.delete(key);
}
