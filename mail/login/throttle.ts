import { createHash } from 'node:crypto';

import { RecentMap } from '../guard/recent-map.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** An address from which an account was logged in to is known to it for so long. */
const KNOWN_MS = 30 * DAY_MS;

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
  /** Addresses, accounts, and accounts at addresses, remembered at most. */
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

/** `forgive` takes back that the attempt was counted as failed. */
export type Admitted = { kind: 'go'; delay: number; forgive: () => void } | { kind: 'throttled'; retryAfter: number };

interface Failures {
  /** Times of the failures of the last minute, ascending. */
  recent: number[];
  dayStart: number;
  day: number;
  last: number;
}

/**
 * Counts failed logins and decides who must wait. All doors share one. Nothing is ever locked for the owner: an account
 * under attack is closed to the addresses that guess at it and open, a little slower, to every other. Where it was logged
 * in to before, only what fails for it there counts: neither neighbours behind the address nor strangers elsewhere, nor
 * pages that make a visitor's browser guess, shut out whoever belongs there.
 */
export class Throttle {
  readonly #limits: ThrottleLimits;
  readonly #networks: RecentMap<string, Failures>;
  readonly #accounts: RecentMap<string, Failures>;
  /** By account and address where they are known to each other: until when, and what failed there. */
  readonly #known: RecentMap<string, number>;
  readonly #atHome: RecentMap<string, Failures>;

  constructor(limits: Partial<ThrottleLimits> = {}) {
    this.#limits = { ...THROTTLE_LIMITS, ...limits };
    this.#networks = new RecentMap(this.#limits.entries);
    this.#accounts = new RecentMap(this.#limits.entries);
    this.#known = new RecentMap(this.#limits.entries);
    this.#atHome = new RecentMap(this.#limits.entries);
  }

  /** Of how many addresses and accounts failures are remembered. */
  get size(): number {
    return this.#networks.size + this.#accounts.size + this.#atHome.size;
  }

  /** Decides without counting. */
  look(attempt: Attempt, now: number): Admission {
    const home = this.#homeOf(attempt, now);
    if (home !== undefined) return this.#paced(standing(this.#atHome.get(home), now), now) ?? { kind: 'go', delay: 0 };
    const { accountPerDay, accountTries, accountDelay } = this.#limits;
    const from = standing(this.#networks.get(attempt.network), now);
    const tooFast = this.#paced(from, now);
    if (tooFast !== undefined) return tooFast;
    if (attempt.account === undefined) return { kind: 'go', delay: 0 };
    const at = standing(this.#accounts.get(attempt.account), now);
    if (at.day < accountPerDay) return { kind: 'go', delay: 0 };
    if (from.day >= accountTries) return throttled(Math.min(from.dayStart, at.dayStart) + DAY_MS - now);
    return { kind: 'go', delay: accountDelay };
  }

  /**
   * Decides, and counts the attempt as failed until that is taken back. Counting first means that attempts side by side
   * cannot all pass before one of them is seen to fail.
   */
  admit(attempt: Attempt, now: number): Admitted {
    const admission = this.look(attempt, now);
    if (admission.kind === 'throttled') return admission;
    const { perMinute } = this.#limits;
    const home = this.#homeOf(attempt, now);
    const { network, account } = attempt;
    const takeBack =
      home !== undefined
        ? [count(this.#atHome, home, now, perMinute)]
        : [
            count(this.#networks, network, now, perMinute),
            ...(account === undefined ? [] : [count(this.#accounts, account, now, 0)]),
          ];
    return { ...admission, forgive: () => takeBack.forEach((one) => one()) };
  }

  /** Somebody showed to hold the account: it is known at this address from now on. */
  proved(attempt: Attempt, now: number): void {
    const home = keyOfHome(attempt);
    if (home !== undefined) this.#known.set(home, now + KNOWN_MS);
  }

  /** Whether somebody showed to hold the account there: who tries there with an old password is no guesser. */
  isAtHome(attempt: Attempt, now: number): boolean {
    return this.#homeOf(attempt, now) !== undefined;
  }

  /** Forgets what failed at an address, for whichever accounts. Where accounts are known stays: it speaks for them. */
  forgive(network: string): void {
    this.#networks.delete(network);
    this.#atHome.drop((_, home) => home.endsWith(` ${network}`));
  }

  #homeOf(attempt: Attempt, now: number): string | undefined {
    const home = keyOfHome(attempt);
    return home !== undefined && (this.#known.get(home) ?? 0) > now ? home : undefined;
  }

  #paced({ day, dayStart, recent }: Failures, now: number): Admission | undefined {
    const { perMinute, perDay } = this.#limits;
    if (day >= perDay) return throttled(dayStart + DAY_MS - now);
    return recent.length >= perMinute ? throttled((recent[0] ?? now) + MINUTE_MS - now) : undefined;
  }
}

function keyOfHome({ network, account }: Attempt): string | undefined {
  return account === undefined ? undefined : `${account} ${network}`;
}

/** The form under which an account is counted: short, whatever a peer sends. */
export function accountKeyOf(user: string): string {
  return createHash('sha256').update(user).digest().toString('base64', 0, 12);
}

function throttled(ms: number): Admission & { kind: 'throttled' } {
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

/** Counts a failure; the answer takes it back. */
function count(map: RecentMap<string, Failures>, key: string, now: number, recentLimit: number): () => void {
  map.purge((one) => isOver(one, now));
  const { recent, dayStart, day } = standing(map.get(key), now);
  map.set(key, { recent: [...recent, now].slice(0, recentLimit), dayStart, day: day + 1, last: now });
  return () => uncount(map, key, now);
}

function uncount(map: RecentMap<string, Failures>, key: string, at: number): void {
  const failures = map.get(key);
  if (!failures || failures.day === 0) return;
  failures.day -= 1;
  const position = failures.recent.lastIndexOf(at);
  if (position >= 0) failures.recent.splice(position, 1);
  if (failures.day === 0) map.delete(key);
}
