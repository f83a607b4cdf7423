import type { Resolver } from '../../dns/lookup.ts';
import type { Log, Meter } from '../../log.ts';
import type { MailStore } from '../../store/store.ts';
import {
  keepStsPolicy,
  putOffStsPolicy,
  staleStsPolicies,
  type StsPolicy,
  stsPolicyOf,
  useStsPolicy,
} from '../../store/sts-policy.ts';
import type { Clock } from '../clock.ts';
import type { FetchStsPolicy, NoPolicy } from './sts-fetch.ts';
import { readStsRecord, type StsRecord } from './sts-text.ts';

export interface StsPoliciesOptions {
  store: MailStore;
  resolver: Resolver;
  fetch: FetchStsPolicy;
  clock: Clock;
  log: Log;
  meter: Meter;
}

/** The policy that counts for a domain, or that there is none; `problem` when one is announced and cannot be had. */
export type StsState = { kind: 'policy'; policy: StsPolicy } | { kind: 'none'; problem?: NoPolicy };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** RFC 8461 3.3: a server that is down is not asked again at once, nor is one whose policy is wrong. */
const REST = 5 * MINUTE;
/** RFC 8461 3.3, 10.2: a policy is fetched again every day, so that somebody in the way has to be there for long. */
const FRESH = 24 * HOUR;
const MOST_FAILED = 10_000;
/** Policies that are fetched again in one round. */
const ROUND = 200;

/** Knows the MTA-STS policies of other domains, and keeps those that are in use from running out. */
export class StsPolicies {
  readonly #options: StsPoliciesOptions;
  /** Fetches that are under way, by domain. */
  readonly #fetching = new Map<string, Promise<StsState>>();
  /** By domain and id: what the last fetch came to, until when (monotonic ms). */
  readonly #failed = new Map<string, { until: number; problem: NoPolicy }>();
  /** What was fetched and is being written down. */
  readonly #keeping = new Set<Promise<void>>();
  #cancelTimer: () => void;
  #round: Promise<void> | undefined;
  #closing = false;
  readonly #closed = Promise.withResolvers<undefined>();

  constructor(options: StsPoliciesOptions) {
    this.#options = options;
    this.#cancelTimer = options.clock.after(HOUR, () => this.#refreshAll());
  }

  /** Rejects when the store cannot be read: no policy is then known, and none must be assumed. */
  async of(domain: string): Promise<StsState> {
    const [known, record] = await Promise.all([this.#known(domain), this.#record(domain)]);
    const now = this.#options.clock.now();
    const counts: StsState = known === undefined ? { kind: 'none' } : { kind: 'policy', policy: known };
    // RFC 8461 5.1: that the record is gone, or cannot be had, takes nothing from a policy that was fetched.
    if (record.kind !== 'id') return counts;
    if (known?.id !== record.id) return this.#fetch(domain, record.id, counts);
    const half = (known.expiresAt - known.fetchedAt) / 2;
    if (now - known.fetchedAt > Math.min(FRESH, half)) void this.#fetch(domain, record.id, counts);
    return counts;
  }

  /**
   * What is still being fetched is let go, as a stop waits for nobody's web server; what has come is written down. Who
   * asks for policies has to be closed before.
   */
  async close(): Promise<void> {
    this.#closing = true;
    this.#closed.resolve(undefined);
    this.#cancelTimer();
    await this.#round;
    await Promise.all(this.#keeping);
  }

  async #known(domain: string): Promise<StsPolicy | undefined> {
    const { store, clock } = this.#options;
    const known = await store.read(stsPolicyOf, { domain, now: clock.now() });
    if (known?.unused === true) void store.write(useStsPolicy, { domain }).catch(() => undefined);
    return known;
  }

  async #record(domain: string): Promise<StsRecord> {
    const found = await this.#options.resolver.txt(`_mta-sts.${domain}`);
    return found.kind === 'found' ? readStsRecord(found.records) : { kind: 'none' };
  }

  /** Fetches a policy once for all who ask; `instead` is what counts when it cannot be had. Never rejects. */
  #fetch(domain: string, id: string, instead: StsState): Promise<StsState> {
    const failed = this.#failed.get(`${domain} ${id}`);
    if (failed !== undefined && failed.until > this.#options.clock.monotonic()) {
      return Promise.resolve(orElse(instead, failed.problem));
    }
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
      log.warn({ domain, ...fetched }, 'the MTA-STS policy of a domain could not be had');
      this.#remember(`${domain} ${id}`, fetched);
      return orElse(instead, fetched);
    }
    const { mode, mx, maxAge } = fetched.policy;
    const now = clock.now();
    const policy = { id, mode, mx, strings: fetched.strings, fetchedAt: now, expiresAt: now + maxAge * 1000 };
    // Also during a stop it counts for who asked, or mail that is on its way would go out without what it demands.
    if (!this.#closing) await this.#keep(domain, policy);
    return { kind: 'policy', policy };
  }

  async #keep(domain: string, policy: StsPolicy): Promise<void> {
    const { store, log } = this.#options;
    const keeping = store
      .write(keepStsPolicy, { domain, policy })
      .catch((error: unknown) => log.warn({ err: error, domain }, 'an MTA-STS policy could not be kept'));
    this.#keeping.add(keeping);
    await keeping;
    this.#keeping.delete(keeping);
  }

  #remember(key: string, problem: NoPolicy): void {
    this.#failed.delete(key);
    this.#failed.set(key, { until: this.#options.clock.monotonic() + REST, problem });
    for (const oldest of this.#failed.keys()) {
      if (this.#failed.size <= MOST_FAILED) break;
      this.#failed.delete(oldest);
    }
  }

  #refreshAll(): void {
    const { clock, log } = this.#options;
    this.#round = this.#refresh()
      .catch((error: unknown) => log.error({ err: error }, 'MTA-STS policies could not be kept fresh'))
      .finally(() => {
        if (!this.#closing) this.#cancelTimer = clock.after(HOUR, () => this.#refreshAll());
      });
  }

  /** One after the other, as nobody waits for it: {@link of} fetches what is old, and notes what was used. */
  async #refresh(): Promise<void> {
    const { store, clock } = this.#options;
    for (const domain of await store.read(staleStsPolicies, { now: clock.now(), limit: ROUND })) {
      if (this.#closing) return;
      const record = await this.#record(domain);
      const fetching: Promise<StsState> | StsState =
        record.kind === 'id' ? this.#fetch(domain, record.id, { kind: 'none' }) : { kind: 'none' };
      const state = await Promise.race([fetching, this.#closed.promise]);
      if (state?.kind === 'none') await store.write(putOffStsPolicy, { domain });
    }
  }
}

function orElse(instead: StsState, problem: NoPolicy): StsState {
  return instead.kind === 'policy' ? instead : { kind: 'none', problem };
}
