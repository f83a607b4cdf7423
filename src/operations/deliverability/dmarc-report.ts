import { z } from 'zod';
import { adviseDmarc, DMARC_POLICIES, sourceSentences } from '../../reports/advice.ts';
import { dmarcDays, dmarcSources, reporters, type SourceSum } from '../../reports/queries.ts';
import { ownDmarcPolicy } from '../../reports/policy-queries.ts';
import { recordUntrustedText } from '../../reading/read-record.ts';
import { operation } from '../../core/operation.ts';
import {
  dateOf,
  DayTotals,
  MAX_REPORTERS,
  percentOf,
  rangeOf,
  ReportArguments,
  Reporters,
  shownReporters,
} from './report-context.ts';

const MAX_SOURCES = 50;

const Source = z.object({
  ip: z.string().nullable().describe('null: many small sources'),
  messages: z.number(),
  passed: z.number(),
  spf: z.number(),
  dkim: z.number(),
  quarantined: z.number(),
  rejected: z.number(),
  forwarded: z.number(),
});

export const getDmarcReport = operation({
  name: 'get_dmarc_report',
  title: 'Show DMARC reports',
  toolset: 'email',
  reach: 'project',
  action: 'read',
  untrusted: true,
  description:
    'Sums the DMARC aggregate reports of other servers about a domain: by day and source, sentences on what to mend, and advice on the policy. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(ReportArguments),
  output: z.object({
    domain: z.string(),
    messages: z.number(),
    passed: z.number(),
    passRate: z.number().nullable().describe('percent'),
    unsigned: z.number().describe('messages in reports that anyone could have sent'),
    days: z.array(DayTotals),
    sources: z.array(Source),
    policy: z.enum(DMARC_POLICIES),
    advice: z.object({ next: z.enum(DMARC_POLICIES).nullable(), sentence: z.string() }),
    sentences: z.array(z.string()),
    untrusted: z.object({ reporters: Reporters }),
  }),
  rest: { method: 'GET', path: '/api/email/domains/:domainId/dmarc-report' },
  async run(call, input) {
    const { name, range } = await rangeOf(call, input);
    const [days, sources, all, policy] = await Promise.all([
      call.store.scan(dmarcDays, range),
      call.store.scan(dmarcSources, { ...range, limit: MAX_SOURCES }),
      call.store.scan(reporters, { ...range, limit: MAX_REPORTERS }),
      call.store.read(ownDmarcPolicy, { domain: range.domain }),
    ]);
    const from = shownReporters(all, 'dmarc');
    if (from.length > 0) await recordUntrustedText(call);
    const messages = days.reduce((sum, one) => sum + one.total, 0);
    const passed = days.reduce((sum, one) => sum + one.passed, 0);
    return {
      domain: name,
      messages,
      passed,
      passRate: percentOf(passed, messages),
      unsigned: messages - days.reduce((sum, one) => sum + one.signed, 0),
      days: days.map((one) => ({ day: dateOf(one.day), total: one.total, passed: one.passed })),
      sources: sources.map(shownSource),
      policy,
      advice: adviseDmarc(policy, days),
      sentences: sourceSentences(sources),
      untrusted: { reporters: from },
    };
  },
});

function shownSource({ source, unsigned: _, spfDomain: _spf, dkimDomain: _dkim, ...sums }: SourceSum) {
  return { ip: source === '' ? null : source, ...sums };
}
