import type { Job } from '../../mail/jobs/scheduler.ts';
import type { Log } from '../../mail/log.ts';
import { domainInfo } from '../../mail/store/address/domain.ts';
import { purgeKeys, GRACE_MS } from './commands.ts';
import { addDueKeys, type RotationContext } from './key-rotation.ts';
import { type DnsSnapshot, type DomainCheckContext, checkDomain, updateManaged } from './look.ts';
import { keysInMotion, nextManaged, nextToCheck } from './queries.ts';
import { watchRecords } from './record-watch.ts';
import { domainSetup } from './setup.ts';

/** Interval of checks of verified domains; others are checked on request. Owners hear of a lost record within an hour. */
const RECHECK_MS = 50 * 60_000;
/** Interval of key rotation. */
const KEYS_MS = 10 * 60_000;
/** Interval of checking that served domains are still delegated; one domain a run. */
const DELEGATION_MS = 3_600_000;

export interface RecheckContext extends RotationContext, Omit<DomainCheckContext, 'write'> {
  clock: () => number;
  log: Log;
}

/**
 * Rechecks verified domains, pauses and resumes their sending, begins and completes key rotations, and stops serving domains that are no
 * longer delegated to this box.
 */
export class DomainRecheck implements Job {
  readonly name = 'domain-recheck';
  /** One domain a run, which spreads the load. */
  readonly everyMs = 20_000;
  readonly backoffMs = 60_000;
  readonly #context: RecheckContext;
  #keysAt = 0;
  /** Start of the pass through the served domains, and the last one checked. */
  #led = { since: 0, last: 0 };

  constructor(context: RecheckContext) {
    this.#context = context;
  }

  /** Checks the domain with the oldest check if due, one served domain, and rotating keys if due. */
  async run(stop?: AbortSignal): Promise<void> {
    const { store, clock } = this.#context;
    const due = await store.read(nextToCheck, { before: clock() - RECHECK_MS });
    if (due !== undefined) await this.#look(due);
    if (stop?.aborted !== true) await this.#follow();
    if (clock() - this.#keysAt < KEYS_MS) return;
    this.#keysAt = clock();
    for (const { domain, tenant, waits } of await store.read(keysInMotion, { retiredBefore: clock() - GRACE_MS })) {
      if (stop?.aborted === true) return;
      await store.write(purgeKeys, { domain });
      if (waits) await this.#look({ id: domain, tenant });
    }
  }

  async #follow(): Promise<void> {
    const { store, clock, settings, log } = this.#context;
    // Without the name server nothing is served, but the delegations must stay stored.
    if (settings.ports.dns === undefined) return;
    if (this.#led.last === 0) {
      if (clock() - this.#led.since < DELEGATION_MS) return;
      this.#led.since = clock();
    }
    const domain = await store.read(nextManaged, { after: this.#led.last });
    this.#led.last = domain?.id ?? 0;
    if (domain === undefined) return;
    const { managed, observed } = await updateManaged(this.#writing(), domain);
    if (!managed)
      log.warn({ domain: domain.name, observed }, 'domain no longer served: its name servers point elsewhere');
  }

  #writing(): DomainCheckContext {
    const { store } = this.#context;
    return { ...this.#context, write: (what, input) => store.write(what, input) };
  }

  async #look({ id, tenant }: { id: number; tenant: number }): Promise<void> {
    const { store, log } = this.#context;
    const domain = await store.read(domainInfo, { tenant, id });
    if (domain === undefined) return;
    const setup = await store.read(domainSetup, { domain: id });
    const { verdict, changed, keysByName, seen } = await checkDomain(this.#writing(), domain);
    if (setup?.checks != null && !setup.managed)
      await watchRecords(store, id, (JSON.parse(setup.checks) as DnsSnapshot).seen, seen);
    if (verdict === 'pass' && keysByName) await addDueKeys(this.#context, domain);
    if (verdict === 'fail') log.warn({ domain: domain.name, changed }, 'domain check failed');
    else if (changed) log.info({ domain: domain.name, verdict }, 'domain check changed the domain');
  }
}
