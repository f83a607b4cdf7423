import { z } from 'zod';
import { domainsOf } from '../../../mail/store/domain.ts';
import { stsFetcher } from '../../../mail/relay/tls-policy/sts-fetch.ts';
import { type Checked, STATUSES } from '../../deliverability/checked.ts';
import { fixesOf, type Report, reportOn, scoreOf } from '../../deliverability/report.ts';
import { publishedKeys } from '../../domains/queries.ts';
import { mayReach } from '../../networks.ts';
import { type Call, operation } from '../operation.ts';
import { Which } from '../domains/which.ts';
import { domainOf } from '../scope.ts';

/** Of a policy of MTA-STS, ms: somebody waits for the report. */
const LONGEST_FETCH_MS = 10_000;

const Check = z.object({ status: z.enum(STATUSES), detail: z.string() });

export const getDeliverabilityReport = operation({
  name: 'get_deliverability_report',
  title: 'Deliverability report',
  toolset: 'email',
  reach: 'project',
  action: 'read',
  untrusted: true,
  description: 'Looks now whether mail of a domain will arrive; fixes says what to do. Changes nothing.',
  hints: { readOnly: true, idempotent: true, openWorld: true },
  input: z.strictObject(Which),
  output: z.object({
    domain: z.string(),
    spf: Check,
    dkim: Check,
    dmarc: Check,
    ptr: Check,
    tls: Check,
    mtaSts: Check,
    blocklists: z.array(z.object({ list: z.string(), about: z.string(), ...Check.shape })),
    dmarcAggregate: z
      .object({ passRate: z.number(), sources: z.array(z.string()) })
      .nullable()
      .describe('null: no aggregate reports are read here'),
    score: z.number().nullable().describe('percent of the known checks that pass'),
    fixes: z.array(z.string()),
  }),
  rest: { method: 'GET', path: '/api/email/domains/:domainId/deliverability' },
  async run(call, { domainId, domain }) {
    const info = await domainOf(call, { domainId, domain: domain ?? (await theOnly(call)) });
    const keys = await call.store.read(publishedKeys, { domain: info.id });
    const report = await reportOn({ ...call, fetchSts: fetcher(call) }, { ...info, keys });
    const fixes = [...stopped(call, info), ...fixesOf(report)];
    return { domain: info.name, ...shown(report), dmarcAggregate: null, score: scoreOf(report), fixes };
  },
});

/** Who has one domain need not say which. */
async function theOnly({ store, tenant }: Call): Promise<string | undefined> {
  const [only, ...more] = await store.read(domainsOf, { tenant });
  return more.length > 0 ? undefined : only?.name;
}

/** What keeps mail of the domain here, whatever its records say. */
function stopped(
  { settings }: Call,
  { name, verified, pausedAt }: { name: string; verified: boolean; pausedAt: number | null },
): string[] {
  if (!settings.live) return ['Nothing was looked up: give the box a public name (MAILSTEAD_HOSTNAME) to run it live.'];
  if (!verified) return [`Nothing is sent from ${name} before it is verified: call verify_email_domain.`];
  if (pausedAt !== null)
    return [`Sending from ${name} is paused as its records went: mend them, then verify_email_domain.`];
  return [];
}

function fetcher({ lookNow, settings }: Call) {
  return stsFetcher({
    resolver: lookNow,
    allowPrivate: (ip, port) => mayReach(settings.allowPrivateNetworks, ip, port),
    timeoutMs: LONGEST_FETCH_MS,
  });
}

function shown({ spf, dkim, dmarc, ptr, tls, mtaSts, blocklists }: Report) {
  const plain = ({ status, detail }: Checked) => ({ status, detail });
  return {
    spf: plain(spf),
    dkim: plain(dkim),
    dmarc: plain(dmarc),
    ptr: plain(ptr),
    tls: plain(tls),
    mtaSts: plain(mtaSts),
    blocklists: blocklists.map(({ list, about, ...checked }) => ({ list, about, ...plain(checked) })),
  };
}
