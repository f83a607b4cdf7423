import { z } from 'zod';
import { adviseSts, STS_TESTING_DAYS, tlsSentences } from '../../reports/advice.ts';
import { reporters, type SumsInput, tlsDays, tlsSums } from '../../reports/queries.ts';
import { STS_MODES } from '../../domains/sts-commands.ts';
import { ownStsPolicy } from '../../domains/sts-queries.ts';
import { recordUntrustedText } from '../../reading/read-record.ts';
import { type Call, operation } from '../../core/operation.ts';
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

const MAX_RESULTS = 50;
const DAY_MS = 24 * 3_600_000;

export const getTlsReport = operation({
  name: 'get_tls_report',
  title: 'Show TLS reports',
  toolset: 'email',
  reach: 'project',
  action: 'read',
  untrusted: true,
  description:
    'Sums the TLS reports (RFC 8460) of other servers about mail to a domain: by day and result, what to mend, and advice on MTA-STS. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(ReportArguments),
  output: z.object({
    domain: z.string(),
    sessions: z.number(),
    succeeded: z.number(),
    successRate: z.number().nullable().describe('percent'),
    days: z.array(DayTotals),
    results: z.array(
      z.object({
        policy: z.string(),
        result: z.string(),
        sessions: z.number(),
        untrusted: z.object({ mx: z.string() }),
      }),
    ),
    mtaSts: z.enum(STS_MODES).nullable().describe('Null: no policy'),
    advice: z.object({ next: z.enum(STS_MODES).nullable(), sentence: z.string() }),
    sentences: z.array(z.string()),
    untrusted: z.object({ reporters: Reporters }),
  }),
  rest: { method: 'GET', path: '/api/email/domains/:domainId/tls-report' },
  async run(call, input) {
    const { name, range } = await rangeOf(call, input);
    const [days, sums, all, sts] = await Promise.all([
      call.store.scan(tlsDays, range),
      call.store.scan(tlsSums, { ...range, limit: MAX_RESULTS }),
      call.store.scan(reporters, { ...range, limit: MAX_REPORTERS }),
      stsAdvice(call, range),
    ]);
    const from = shownReporters(all, 'tls');
    if (from.length > 0) await recordUntrustedText(call);
    const sessions = days.reduce((sum, one) => sum + one.total, 0);
    const succeeded = days.reduce((sum, one) => sum + one.passed, 0);
    return {
      domain: name,
      sessions,
      succeeded,
      successRate: percentOf(succeeded, sessions),
      days: days.map((one) => ({ day: dateOf(one.day), total: one.total, passed: one.passed })),
      results: sums.map((one) => ({
        policy: one.policyType,
        result: one.result,
        sessions: one.sessions,
        untrusted: { mx: one.mx },
      })),
      ...sts,
      sentences: tlsSentences(sums),
      untrusted: { reporters: from },
    };
  },
});

/** Mode of MTA-STS and advice on it, by the days that count for it. */
export async function stsAdvice({ store, clock }: Call, { domain, until }: SumsInput) {
  const policy = await store.read(ownStsPolicy, { domain });
  const days = await store.scan(tlsDays, { domain, since: until - STS_TESTING_DAYS, until });
  const testingDays = policy === undefined ? 0 : Math.floor((clock() - policy.changedAt) / DAY_MS);
  const mtaSts = policy?.mode ?? null;
  return { mtaSts, advice: adviseSts(mtaSts, testingDays, days) };
}
