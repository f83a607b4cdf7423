import type { Job } from '../../mail/jobs/scheduler.ts';
import { adviseSts, STS_TESTING_DAYS } from '../reports/advice.ts';
import { tlsDays } from '../reports/queries.ts';
import type { AreaContext } from '../core/area-context.ts';
import { storedCertificates } from '../certificates/queries.ts';
import { setStsMode } from './sts-commands.ts';
import { walkingStsPolicies } from './sts-queries.ts';

const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;

type WalkContext = Pick<AreaContext, 'store' | 'settings' | 'clock' | 'log'> & { selfSigned: () => boolean };

/** Returns why a policy cannot be enforced: senders would defer all mail, or could not fetch it; undefined: it can. */
export async function enforcementObstacle(
  { store, settings, selfSigned }: Pick<WalkContext, 'store' | 'settings' | 'selfSigned'>,
  domain: string,
): Promise<string | undefined> {
  const { hostname } = settings;
  if (!settings.live) return undefined;
  if (selfSigned()) {
    return `The certificate of ${hostname} is self-signed: senders would defer all mail. Get one first.`;
  }
  const all = await store.read(storedCertificates, undefined);
  if (settings.acme === undefined || all.some(({ names }) => names.includes(`mta-sts.${domain}`))) return undefined;
  return `There is no certificate for mta-sts.${domain}: point it to ${hostname} (CNAME), wait for the certificate, and try again.`;
}

/** Changes MTA-STS policies from testing to enforce when signed reports have no failures, where that is not turned off. */
export class StsWalk implements Job {
  readonly name = 'mta-sts-walk';
  readonly everyMs = HOUR_MS;
  readonly #context: WalkContext;

  constructor(context: WalkContext) {
    this.#context = context;
  }

  async run(stop?: AbortSignal): Promise<void> {
    const { store, clock, log } = this.#context;
    const until = Math.floor(clock() / DAY_MS);
    for (const { domain, name, changedAt } of await store.read(walkingStsPolicies, {
      before: clock() - STS_TESTING_DAYS * DAY_MS,
    })) {
      if (stop?.aborted === true) return;
      const days = await store.scan(tlsDays, { domain, since: until - STS_TESTING_DAYS, until });
      const { next, sentence } = adviseSts('testing', Math.floor((clock() - changedAt) / DAY_MS), days);
      if (next !== 'enforce' || (await enforcementObstacle(this.#context, name)) !== undefined) continue;
      await store.write(setStsMode, { domain, mode: 'enforce' });
      log.info({ domain: name, why: sentence }, 'MTA-STS policy enforced');
    }
  }
}
