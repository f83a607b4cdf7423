import type { LRUCache } from 'lru-cache';
import type { Resolver } from '../../dns/lookup.ts';
import { lruMap } from '../../limits/lru-map.ts';
import type { Log, Meter } from '../../log.ts';
import type { MailStore } from '../../store/store.ts';
import {
  storeStsPolicy,
  deferStsPolicy,
  staleStsPolicies,
  type StsPolicy,
  stsPolicyOf,
  touchStsPolicy,
} from '../../store/queue/sts-policy.ts';
import type { RelayClock } from '../clock.ts';
import type { FetchStsPolicy, StsFailure } from './sts-fetch.ts';
import { readStsRecord, type StsRecord } from './sts-text.ts';

export interface StsPoliciesOptions {
  store: MailStore;
  resolver: Resolver;
  fetch: FetchStsPolicy;
  clock: RelayClock;
  log: Log;
  meter: Meter;
}

/** Current policy of a domain, or none; `problem`: one is announced but could not be fetched. */
export type StsState = { kind: 'policy'; policy: StsPolicy } | { kind: 'none'; problem?: StsFailure };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Retry delay after a failed fetch or an invalid policy. RFC 8461 3.3. */
const RETRY_AFTER_FAILURE_MS = 5 * MINUTE;
/** Policies are refetched daily, so that an attacker has to be active for long. RFC 8461 3.3, 10.2. */
const REFRESH_AFTER_MS = 24 * HOUR;
/** Failed fetches in memory. */
const MAX_FAILED = 10_000;
/** Policies that one refresh run fetches. */
const MAX_REFRESHES = 200;

/** Cache of MTA-STS policies of other domains; refreshes those in use before they expire. */
export class StsPolicies {
  readonly #options: StsPoliciesOptions;
  /** Pending fetches by domain. */
  readonly #fetching = new Map<string, Promise<StsState>>();
  /** Reason of the last failed fetch by domain and id. */
  readonly #failed: LRUCache<string, StsFailure>;
  /** Pending writes of fetched policies. */
  readonly #pendingWrites = new Set<Promise<void>>();
  #cancelTimer: () => void;
  #round: Promise<void> | undefined;
  #closing = false;
  readonly #closed = Promise.withResolvers<undefined>();

  constructor(options: StsPoliciesOptions) {
    this.#options = options;
    this.#failed = lruMap(MAX_FAILED, { ms: RETRY_AFTER_FAILURE_MS, now: () => options.clock.monotonic() });
    this.#cancelTimer = options.clock.after(HOUR, () => this.#refreshAll());
  }

  /** Finds the policy of a domain. Rejects if the store cannot be read: "no policy" must not be assumed then. */
  async find(domain: string): Promise<StsState> {
    const [known, record] = await Promise.all([this.#known(domain), this.#record(domain)]);
    const now = this.#options.clock.now();
    const counts: StsState = known === undefined ? { kind: 'none' } : { kind: 'policy', policy: known };
    // A missing or unreadable record does not invalidate a fetched policy. RFC 8461 5.1.
    if (record.kind !== 'id') return counts;
    if (known?.id !== record.id) return this.#fetch(domain, record.id, counts);
    const half = (known.expiresAt - known.fetchedAt) / 2;
    if (now - known.fetchedAt > Math.min(REFRESH_AFTER_MS, half)) void this.#fetch(domain, record.id, counts);
    return counts;
  }

  /**
   * Closes the cache: pending fetches are abandoned, fetched policies are stored. Close its callers before.
   */
  async close(): Promise<void> {
    this.#closing = true;
    this.#closed.resolve(undefined);
    this.#cancelTimer();
    await this.#round;
    await Promise.all(this.#pendingWrites);
  }

  async #known(domain: string): Promise<StsPolicy | undefined> {
    const { store, clock } = this.#options;
    const known = await store.read(stsPolicyOf, { domain, now: clock.now() });
    if (known?.unused === true) void store.write(touchStsPolicy, { domain }).catch(() => undefined);
    return known;
  }

  async #record(domain: string): Promise<StsRecord> {
    const found = await this.#options.resolver.txt(`_mta-sts.${domain}`);
    return found.kind === 'found' ? readStsRecord(found.records) : { kind: 'none' };
  }

  /** Fetches a policy once for all concurrent callers; `instead`: state if the fetch fails. Never rejects. */
  #fetch(domain: string, id: string, instead: StsState): Promise<StsState> {
    const failed = this.#failed.get(`${domain} ${id}`);
    if (failed !== undefined) return Promise.resolve(fallbackState(instead, failed));
    const running = this.#fetching.get(domain);
    if (running !== undefined) return running;
    const fetching = this.#fetchNow(domain, id, instead).finally(() => this.#fetching.delete(domain));
    this.#fetching.set(domain, fetching);
    return fetching;
  }

  async #fetchNow(domain: string, id: string, instead: StsState): Promise<StsState> {
    const { fetch, clock, log, meter } = this.#options;
    const fetched = await fetch(domain);
    meter.count('relay_sts_fetches_total', { result: 'policy' in fetched ? 'fetched' : fetched.failure });
    if (!('policy' in fetched)) {
      log.warn({ domain, ...fetched }, 'failed to fetch the MTA-STS policy of a domain');
      this.#failed.set(`${domain} ${id}`, fetched);
      return fallbackState(instead, fetched);
    }
    const { mode, mx, maxAge } = fetched.policy;
    const now = clock.now();
    const policy = { id, mode, mx, strings: fetched.strings, fetchedAt: now, expiresAt: now + maxAge * 1000 };
    // The caller gets it during shutdown too: otherwise open transactions would ignore the policy.
    if (!this.#closing) await this.#store(domain, policy);
    return { kind: 'policy', policy };
  }

  async #store(domain: string, policy: StsPolicy): Promise<void> {
    const { store, log } = this.#options;
    const write = store
      .write(storeStsPolicy, { domain, policy })
      .catch((error: unknown) => log.warn({ err: error, domain }, 'failed to store an MTA-STS policy'));
    this.#pendingWrites.add(write);
    await write;
    this.#pendingWrites.delete(write);
  }

  #refreshAll(): void {
    const { clock, log } = this.#options;
    this.#round = this.#refresh()
      .catch((error: unknown) => log.error({ err: error }, 'failed to refresh MTA-STS policies'))
      .finally(() => {
        if (!this.#closing) this.#cancelTimer = clock.after(HOUR, () => this.#refreshAll());
      });
  }

  /** Refreshes stale policies one after the other. {@link find} fetches old ones and records their use. */
  async #refresh(): Promise<void> {
    const { store, clock } = this.#options;
    for (const domain of await store.read(staleStsPolicies, { now: clock.now(), limit: MAX_REFRESHES })) {
      if (this.#closing) return;
      const record = await this.#record(domain);
      const fetching: Promise<StsState> | StsState =
        record.kind === 'id' ? this.#fetch(domain, record.id, { kind: 'none' }) : { kind: 'none' };
      const state = await Promise.race([fetching, this.#closed.promise]);
      if (state?.kind === 'none') await store.write(deferStsPolicy, { domain });
    }
  }
}

function fallbackState(instead: StsState, problem: StsFailure): StsState {
  return instead.kind === 'policy' ? instead : { kind: 'none', problem };
}
