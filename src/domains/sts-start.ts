import type { Resolver } from '../../mail/dns/lookup.ts';
import type { Job } from '../../mail/jobs/scheduler.ts';
import { lruMap } from '../../mail/limits/lru-map.ts';
import { storedCertificates } from '../certificates/queries.ts';
import type { AreaContext } from '../core/area-context.ts';
import { setStsMode } from './sts-commands.ts';
import { domainsToBeginSts } from './sts-queries.ts';

/** Pause until the MX records of a domain are looked up again. */
const RETRY_MS = 3_600_000;
const MAX_POSTPONED = 10_000;

type StartContext = Pick<AreaContext, 'store' | 'settings' | 'clock' | 'log' | 'lookNow'>;

/**
 * Begins MTA-STS in testing for domains whose records this server publishes, once the host of the policy has a certificate.
 * Testing rejects no mail, and its reports are what the change to enforce needs. RFC 8461 5.
 */
export class StsStart implements Job {
  readonly name = 'mta-sts-start';
  readonly everyMs = 60_000;
  readonly #context: StartContext;
  /** Time of the next look, by domain. */
  readonly #postponed = lruMap<number, number>(MAX_POSTPONED);

  constructor(context: StartContext) {
    this.#context = context;
  }

  async run(stop?: AbortSignal): Promise<void> {
    const { store, settings, clock, log } = this.#context;
    if (!settings.live || settings.acme === undefined) return;
    const due = (await store.read(domainsToBeginSts, undefined)).filter(
      ({ domain }) => (this.#postponed.get(domain) ?? 0) <= clock(),
    );
    if (due.length === 0) return;
    const certified = new Set((await store.read(storedCertificates, undefined)).flatMap(({ names }) => names));
    for (const { domain, name } of due) {
      if (stop?.aborted === true) return;
      if (!certified.has(settings.hostname) || !certified.has(`mta-sts.${name}`)) continue;
      this.#postponed.set(domain, clock() + RETRY_MS);
      if (!(await receivesHereOnly(name, settings.hostname, this.#context.lookNow))) continue;
      await store.write(setStsMode, { domain, mode: 'testing' });
      log.info({ domain: name }, 'MTA-STS policy begun in testing');
    }
  }
}

/** The policy names this server alone: every other MX would fail it. RFC 8461 4.1. */
async function receivesHereOnly(domain: string, hostname: string, resolver: Resolver): Promise<boolean> {
  const found = await resolver.mx(domain);
  return found.kind === 'found' && found.records.every(({ exchange }) => exchange === hostname);
}
