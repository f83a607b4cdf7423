import { z } from 'zod';
import { adviseDmarc, sourceSentences, tlsSentences } from '../../reports/advice.ts';
import { dmarcDays, dmarcSources, reporters, tlsDays, tlsSums } from '../../reports/queries.ts';
import { ownDmarcPolicy } from '../../reports/policy-queries.ts';
import { operation } from '../../core/operation.ts';
import { MAX_REPORTERS, percentOf, rangeOf, ReportArguments } from './report-context.ts';
import { stsAdvice } from './tls-report.ts';

const MAX_ROWS = 50;

const Totals = z.object({
  total: z.number(),
  passed: z.number(),
  rate: z.number().nullable().describe('percent'),
  reports: z.number(),
});

export const getDeliverability = operation({
  name: 'get_deliverability',
  title: 'Show deliverability',
  toolset: 'email',
  reach: 'project',
  action: 'read',
  description:
    'What other servers reported about a domain: shares of mail that pass DMARC and of sessions with TLS, and what to do, in sentences. get_deliverability_report checks the set-up now. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(ReportArguments),
  output: z.object({
    domain: z.string(),
    dmarc: Totals.describe('messages'),
    tls: Totals.describe('sessions'),
    failureReports: z.number().describe('reports about single messages (ruf), which are only counted'),
    unreadable: z.number().describe('messages to the report address that could not be read'),
    problems: z.array(z.string()),
    advice: z.array(z.string()),
  }),
  rest: { method: 'GET', path: '/api/email/domains/:domainId/reports' },
  async run(call, input) {
    const { name, range } = await rangeOf(call, input);
    const { store } = call;
    const rows = { ...range, limit: MAX_ROWS };
    const [mail, sources, sessions, results, all, policy, sts] = await Promise.all([
      store.scan(dmarcDays, range),
      store.scan(dmarcSources, rows),
      store.scan(tlsDays, range),
      store.scan(tlsSums, rows),
      store.scan(reporters, { ...range, limit: MAX_REPORTERS }),
      store.read(ownDmarcPolicy, { domain: range.domain }),
      stsAdvice(call, range),
    ]);
    const reports = (kind: string): number =>
      all.filter((one) => one.kind === kind).reduce((sum, one) => sum + one.reports, 0);
    return {
      domain: name,
      dmarc: { ...totalsOf(mail), reports: reports('dmarc') },
      tls: { ...totalsOf(sessions), reports: reports('tls') },
      failureReports: reports('failure'),
      unreadable: reports('unreadable'),
      problems: [...sourceSentences(sources), ...tlsSentences(results)],
      advice: [adviseDmarc(policy, mail).sentence, sts.advice.sentence],
    };
  },
});

function totalsOf(days: readonly { total: number; passed: number }[]) {
  const total = days.reduce((sum, one) => sum + one.total, 0);
  const passed = days.reduce((sum, one) => sum + one.passed, 0);
  return { total, passed, rate: percentOf(passed, total) };
}
