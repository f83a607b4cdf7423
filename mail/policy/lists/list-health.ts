import type { Log } from '../../log.ts';
import type { Listing } from './dns-list.ts';

/** State of a list, for people. */
export interface ListState {
  /** `unasked` until the first lookup. */
  state: 'unasked' | 'good' | 'off';
  /** Reason why it is not used; '' while it is good. */
  why: string;
}

const HOUR = 3_600_000;
const CHECK_INTERVAL_MS = HOUR;
const SUSPENSION_MS = HOUR;
/** Pause after a DNS error, which says nothing about the list. */
const DNS_FAILURE_SUSPENSION_MS = 60_000;
/** Maximum age of the last check before a list alone rejects a message. */
const FRESH_MS = 5 * 60_000;

/** Entries that must be listed (any one of them), and one that must not be. */
export interface TestEntries {
  listed: readonly string[];
  clear: string;
}

/** RFC 5782 5: each list has 127.0.0.2 as a test entry, and never 127.0.0.1. */
export const ADDRESS_TEST_ENTRIES: TestEntries = { listed: ['2.0.0.127'], clear: '1.0.0.127' };

/** RFC 5782 5: TEST and INVALID; some lists of hosts have an entry of their own instead. */
export function hostTestEntries(zone: string): TestEntries {
  const own = { 'dbl.spamhaus.org': 'dbltest.com', 'multi.surbl.org': 'surbl-org-permanent-test-point.com' }[zone];
  return { listed: ['test', '2.0.0.127', ...(own === undefined ? [] : [own])], clear: 'invalid' };
}

/**
 * Health check of a list by its test entries: before the first lookup, then hourly. Abandoned lists list everything, lose
 * their domain, or refuse queries with answers that look like listings. A list that fails is suspended for an hour.
 */
export class ListHealth {
  readonly #zone: string;
  readonly #testEntries: TestEntries;
  readonly #ask: (labels: string) => Promise<Listing>;
  readonly #monotonic: () => number;
  readonly #log: Log;
  readonly #refusal: string;
  #checkedAt = -Infinity;
  #until = -Infinity;
  #reason = '';
  #running: Promise<void> | undefined;

  constructor(list: {
    zone: string;
    testEntries: TestEntries;
    ask(labels: string): Promise<Listing>;
    monotonic(): number;
    log: Log;
    /** Reason that is shown if it refuses queries. */
    refusal: string;
  }) {
    this.#zone = list.zone;
    this.#testEntries = list.testEntries;
    this.#ask = (labels) => list.ask(labels);
    this.#monotonic = () => list.monotonic();
    this.#log = list.log;
    this.#refusal = list.refusal;
  }

  get state(): ListState {
    if (this.#checkedAt === -Infinity) return { state: 'unasked', why: '' };
    return this.#reason === '' ? { state: 'good', why: '' } : { state: 'off', why: this.#reason };
  }

  /** True if the list may be used now; `fresh`: checked within {@link FRESH_MS}. */
  async isUsable(fresh = false): Promise<boolean> {
    const now = this.#monotonic();
    if (this.#reason !== '' && now < this.#until) return false;
    const age = now - this.#checkedAt;
    if (this.#reason !== '' || age >= (fresh ? FRESH_MS : CHECK_INTERVAL_MS)) {
      // One check for all concurrent callers.
      await (this.#running ??= this.#check().finally(() => (this.#running = undefined)));
    }
    return this.#reason === '';
  }

  /** Suspends a list that refuses queries for an hour. */
  suspend(why: string): void {
    this.#off(why, SUSPENSION_MS);
  }

  async #check(): Promise<void> {
    const clear = await this.#ask(this.#testEntries.clear);
    if (clear.kind === 'listed') return this.#off('lists its negative test entry', SUSPENSION_MS);
    if (clear.kind === 'refused') return this.#off(this.#refusal, SUSPENSION_MS);
    let last: Listing = clear;
    for (const labels of this.#testEntries.listed) {
      last = await this.#ask(labels);
      if (last.kind === 'listed')
        return clear.kind === 'clear' ? this.#on() : this.#off(UNREACHABLE_LIST, DNS_FAILURE_SUSPENSION_MS);
      if (last.kind === 'trouble') return this.#off(UNREACHABLE_LIST, DNS_FAILURE_SUSPENSION_MS);
    }
    return this.#off(last.kind === 'refused' ? this.#refusal : 'has no test entry', SUSPENSION_MS);
  }

  #on(): void {
    if (this.#reason !== '') this.#log.info({ zone: this.#zone }, 'DNS list resumed');
    this.#checkedAt = this.#monotonic();
    this.#reason = '';
  }

  #off(why: string, forMs: number): void {
    if (this.#reason !== why) this.#log.warn({ zone: this.#zone, why }, 'DNS list suspended');
    this.#checkedAt = this.#monotonic();
    this.#until = this.#checkedAt + forMs;
    this.#reason = why;
  }
}

const UNREACHABLE_LIST = 'could not be reached';
