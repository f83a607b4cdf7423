import type { Log } from '../../log.ts';
import type { Listing } from './dns-list.ts';

/** How a list is doing, for people. */
export interface ListState {
  /** `unasked` until the first message that it is for. */
  state: 'unasked' | 'good' | 'off';
  /** Why it is not asked, as a sentence; '' while it is good. */
  why: string;
}

const HOUR = 3_600_000;
const CHECK_EVERY = HOUR;
const OFF_FOR = HOUR;
/** Where the DNS had no answer it is asked again soon: nothing was found out about the list. */
const TROUBLE_FOR = 60_000;
/** Before a list alone refuses a message it must have been found sane this lately. */
const FRESH = 5 * 60_000;

/** What must be on a list, tried in turn, and what must not be. */
export interface Touchstones {
  listed: readonly string[];
  clear: string;
}

/** RFC 5782 5: each list has a test entry, and never 127.0.0.1. */
export const ADDRESS_STONES: Touchstones = { listed: ['2.0.0.127'], clear: '1.0.0.127' };

/** RFC 5782 5 names TEST and INVALID; some lists of hosts have an entry of their own instead. */
export function hostStones(zone: string): Touchstones {
  const own = { 'dbl.spamhaus.org': 'dbltest.com', 'multi.surbl.org': 'surbl-org-permanent-test-point.com' }[zone];
  return { listed: ['test', '2.0.0.127', ...(own === undefined ? [] : [own])], clear: 'invalid' };
}

/**
 * Whether a list can be believed. It is looked at before it is asked for the first time, then hourly: lists end by listing
 * the whole world, by a domain that is sold, and by refusals that look like listings. One that fails rests for an hour.
 */
export class ListHealth {
  readonly #zone: string;
  readonly #stones: Touchstones;
  readonly #ask: (labels: string) => Promise<Listing>;
  readonly #monotonic: () => number;
  readonly #log: Log;
  readonly #refusal: string;
  #checkedAt = -Infinity;
  #until = -Infinity;
  #why = '';
  #running: Promise<void> | undefined;

  constructor(list: {
    zone: string;
    stones: Touchstones;
    ask(labels: string): Promise<Listing>;
    monotonic(): number;
    log: Log;
    /** Why it is not asked when it refuses to answer. */
    refusal: string;
  }) {
    this.#zone = list.zone;
    this.#stones = list.stones;
    this.#ask = (labels) => list.ask(labels);
    this.#monotonic = () => list.monotonic();
    this.#log = list.log;
    this.#refusal = list.refusal;
  }

  get state(): ListState {
    if (this.#checkedAt === -Infinity) return { state: 'unasked', why: '' };
    return this.#why === '' ? { state: 'good', why: '' } : { state: 'off', why: this.#why };
  }

  /** Whether it may be asked now; `fresh`: and whether that was just found out. */
  async isGood(fresh = false): Promise<boolean> {
    const now = this.#monotonic();
    if (this.#why !== '' && now < this.#until) return false;
    const age = now - this.#checkedAt;
    if (this.#why !== '' || age >= (fresh ? FRESH : CHECK_EVERY)) {
      // Once for all who ask at the same time.
      await (this.#running ??= this.#check().finally(() => (this.#running = undefined)));
    }
    return this.#why === '';
  }

  /** It refuses to answer: nothing that it says counts for an hour. */
  rest(why: string): void {
    this.#off(why, OFF_FOR);
  }

  async #check(): Promise<void> {
    const clear = await this.#ask(this.#stones.clear);
    if (clear.kind === 'listed') return this.#off('lists what it must never list', OFF_FOR);
    if (clear.kind === 'refused') return this.#off(this.#refusal, OFF_FOR);
    let last: Listing = clear;
    for (const labels of this.#stones.listed) {
      last = await this.#ask(labels);
      if (last.kind === 'listed') return clear.kind === 'clear' ? this.#on() : this.#off(SILENT, TROUBLE_FOR);
      if (last.kind === 'trouble') return this.#off(SILENT, TROUBLE_FOR);
    }
    return this.#off(last.kind === 'refused' ? this.#refusal : 'has no test entry', OFF_FOR);
  }

  #on(): void {
    if (this.#why !== '') this.#log.info({ zone: this.#zone }, 'a DNS list is asked again');
    this.#checkedAt = this.#monotonic();
    this.#why = '';
  }

  #off(why: string, forMs: number): void {
    if (this.#why !== why) this.#log.warn({ zone: this.#zone, why }, 'a DNS list is not asked for a while');
    this.#checkedAt = this.#monotonic();
    this.#until = this.#checkedAt + forMs;
    this.#why = why;
  }
}

const SILENT = 'could not be reached';
