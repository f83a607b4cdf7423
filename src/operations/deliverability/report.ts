import { z } from 'zod';
import { domainsOf } from '../../../mail/store/address/domain.ts';
import { type DeliverabilityCheck, STATUSES } from '../../deliverability/checked.ts';
import { fixesOf, type DeliverabilityReport, reportOn, scoreOf } from '../../deliverability/report.ts';
import { stsFetcherOf } from '../../deliverability/sts-fetcher.ts';
import { publishedKeys } from '../../domains/queries.ts';
import { type Call, operation } from '../../core/operation.ts';
import { DomainArguments } from '../domains/arguments.ts';
import { dmarcSources } from '../../reports/queries.ts';
import { percentOf } from './report-context.ts';
import { limitLookup } from '../domains/context.ts';
import { findOwnDomain } from '../scope.ts';

const DAY_MS = 24 * 3_600_000;
const MAX_SOURCES = 50;

const Check = z.object({ status: z.enum(STATUSES), detail: z.string() });

export const getDeliverabilityReport = operation({
  name: 'get_deliverability_report',
  title: 'Check deliverability',
  toolset: 'email',
  reach: 'project',
  action: 'read',
  untrusted: true,
  description: 'Checks now whether mail of a domain will be delivered; fixes lists what to do. Changes nothing.',
  hints: { readOnly: true, idempotent: true, openWorld: true },
  input: z.strictObject(DomainArguments),
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
      .describe('null: no reports in the last 30 days'),
    score: z.number().nullable().describe('percent of the known checks that pass'),
    fixes: z.array(z.string()),
  }),
  rest: { method: 'GET', path: '/api/email/domains/:domainId/deliverability' },
  async run(call, { domainId, domain }) {
    const info = await findOwnDomain(call, { domainId, domain: domain ?? (await theOnly(call)) });
    await limitLookup(call, info);
    const keys = await call.store.read(publishedKeys, { domain: info.id });
    const report = await reportOn({ ...call, fetchSts: stsFetcherOf(call) }, { ...info, keys });
    const fixes = [...stopped(call, info), ...fixesOf(report)];
    return {
      domain: info.name,
      ...shown(report),
      dmarcAggregate: await aggregateOf(call, info.id),
      score: scoreOf(report),
      fixes,
    };
  },
});

/** Sums what other servers reported in the last 30 days: passing messages in percent, and sources of failing ones. */
async function aggregateOf({ store, clock }: Call, domain: number) {
  const until = Math.floor(clock() / DAY_MS);
  const sources = await store.scan(dmarcSources, { domain, since: until - 30, until, limit: MAX_SOURCES });
  const messages = sources.reduce((sum, one) => sum + one.messages, 0);
  const passed = sources.reduce((sum, one) => sum + one.passed, 0);
  const passRate = percentOf(passed, messages);
  if (passRate === null) return null;
  return {
    passRate,
    sources: sources.filter((one) => one.passed < one.messages && one.source !== '').map((one) => one.source),
  };
}

/** Finds the domain; optional if there is only one. */
async function theOnly({ store, tenant }: Call): Promise<string | undefined> {
  const [only, ...more] = await store.read(domainsOf, { tenant });
  return more.length > 0 ? undefined : only?.name;
}

/** Returns why mail of the domain is not sent, whatever its records are. */
function stopped(
  { settings }: Call,
  { name, verified, pausedAt }: { name: string; verified: boolean; pausedAt: number | null },
): string[] {
  if (!settings.live)
    return ['Not checked: this server runs without a public name. Set MAILSTEAD_HOSTNAME to run it live.'];
  if (!verified) return [`Mail from ${name} is not sent until the domain is verified: call verify_email_domain.`];
  if (pausedAt !== null)
    return [
      `Sending from ${name} is paused because its DNS records are missing: fix them, then call verify_email_domain.`,
    ];
  return [];
}

function shown({ spf, dkim, dmarc, ptr, tls, mtaSts, blocklists }: DeliverabilityReport) {
  const plain = ({ status, detail }: DeliverabilityCheck) => ({ status, detail });
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
