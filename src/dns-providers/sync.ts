import type { Job } from '../../mail/jobs/scheduler.ts';
import type { Log } from '../../mail/log.ts';
import { type Store, StoreBusy } from '../../mail/store/engine/types.ts';
import { addDueKeys, type RotationContext } from '../domains/key-rotation.ts';
import { dnsConnections } from './commands.ts';
import { recordDrift } from '../domains/drift-commands.ts';
import type { DomainPublisher } from './publisher.ts';

export interface DnsSyncContext extends RotationContext {
  store: Store;
  publisher: DomainPublisher;
  clock: () => number;
  log: Log;
}

/** Interval of looks at the records of one domain, without a change of what it needs. */
const LOOK_MS = 30 * 60_000;
/** Domains that are looked at together: a provider that does not answer holds up its own domains for minutes. */
const MAX_AT_ONCE = 8;
/** Lines of a plan that change nothing. */
const UNCHANGED: ReadonlySet<string> = new Set(['keep', 'conflict', 'suggest']);
/** Pause after a failed access. */
const RETRY_MS = 10 * 60_000;

/**
 * Keeps the records of connected domains up to date: new DKIM keys and policies are published, retired ones removed. What
 * others removed or changed is reported, and not written again: two servers would change it back and forth for ever.
 */
export class DnsSync implements Job {
  readonly name = 'dns-publication';
  readonly everyMs = 60_000;
  readonly backoffMs = 5 * 60_000;
  readonly #context: DnsSyncContext;
  /** Next look and needed records, by domain. */
  readonly #known = new Map<number, { nextAt: number; needed: string }>();

  constructor(context: DnsSyncContext) {
    this.#context = context;
  }

  async run(stop?: AbortSignal): Promise<void> {
    const connections = await this.#context.store.read(dnsConnections, undefined);
    const ids = new Set(connections.map(({ id }) => id));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    const published = connections.filter(({ publishedAt }) => publishedAt !== null).values();
    const lane = async (): Promise<void> => {
      // The lanes share one iterator.
      for (const one of published) {
        if (stop?.aborted === true) return;
        await this.#keep(one);
      }
    };
    await Promise.all(Array.from({ length: MAX_AT_ONCE }, lane));
  }

  /** Logs what fails: the zone of one organization must not stop those of others. */
  async #keep(domain: { id: number; name: string; verified: boolean }): Promise<void> {
    try {
      if (domain.verified) await addDueKeys(this.#context, domain);
      await this.#look(domain);
    } catch (error) {
      // The store is busy for every domain.
      if (error instanceof StoreBusy) throw error;
      this.#context.log.error({ err: error, domain: domain.name }, 'failed to publish DNS records, will retry');
    }
  }

  async #look(domain: { id: number; name: string }): Promise<void> {
    const { publisher, store, clock, log } = this.#context;
    const needed = await publisher.neededText(domain);
    const known = this.#known.get(domain.id);
    if (known !== undefined && known.needed === needed && clock() < known.nextAt) return;
    this.#known.set(domain.id, { nextAt: clock() + RETRY_MS, needed });
    const outcome = await publisher.publish(domain, (what, input) => store.write(what, input), { onlyNew: true });
    if (outcome.kind !== 'failed') this.#known.set(domain.id, { nextAt: clock() + LOOK_MS, needed });
    if (outcome.kind === 'failed')
      log.warn({ domain: domain.name, why: outcome.why }, 'failed to access the DNS provider, will retry');
    if (outcome.kind !== 'done') return;
    await store.write(recordDrift, { domain: domain.id, records: outcome.lost });
    const changed = outcome.changes.filter(({ action }) => !UNCHANGED.has(action)).length;
    if (changed > 0) log.info({ domain: domain.name, changed }, 'DNS records published');
  }
}
