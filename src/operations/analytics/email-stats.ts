import { z } from 'zod';
import {
  type JournalCount,
  JOURNAL_COUNTERS,
  type JournalCounter,
  DAY_HOURS,
  journalCounts,
} from '../../../mail/store/journal/journal-count.ts';
import { HISTORY_RETENTION_MS } from '../../../mail/store/retention/purge.ts';
import { type Call, operation } from '../../core/operation.ts';
import { InMailbox, namedMailbox } from '../reading/mailbox-arguments.ts';
import { refuse } from '../../core/refusal.ts';
import { isoOf, Line } from '../../core/schemas.ts';
import { allowedAccounts, findOwnDomain } from '../scope.ts';
import { indexNow } from '../trace/find.ts';

const HOUR_MS = 3_600_000;
/** Maximum hours or days per answer. */
const MAX_BUCKETS = 400;

/** Counts by event type, as listed in the tool's description. */
const Counts = z.record(z.string(), z.number());

export const getEmailStats = operation({
  name: 'get_email_stats',
  title: 'Get mail statistics',
  toolset: 'analytics',
  reach: 'mailbox',
  action: 'read',
  description:
    'Counts mail of the last 90 days (UTC): received, junk, refused, sent; per outside recipient delivered, deferred (attempts), bounced; complained, suppressed. Zero counts are omitted. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    ...InMailbox,
    domain: Line(1, 255).describe('Domain name').optional(),
    from: z.iso.datetime().describe('Start (RFC 3339, UTC)'),
    to: z.iso.datetime().describe('End; default: now').optional(),
    bucket: z.enum(['hour', 'day']).default('day').describe('Width of a count'),
  }),
  output: z.object({
    from: z.string(),
    to: z.string(),
    series: z.array(z.object({ at: z.string(), counts: Counts })),
    totals: Counts,
  }),
  rest: { method: 'GET', path: '/api/email/stats' },
  async run(call, input) {
    const which = {
      accounts: await requestedAccounts(call, input.mailbox),
      domain: await requestedDomain(call, input.domain),
    };
    const span = spanOf(call, input);
    await indexNow(call);
    const counts = await call.store.scan(journalCounts, { tenant: call.tenant, ...which, ...span });
    return {
      from: isoOf(span.from * HOUR_MS),
      to: isoOf(span.to * HOUR_MS),
      series: seriesOf(counts),
      totals: sumOf(counts),
    };
  },
});

async function requestedAccounts(call: Call, mailbox: string | undefined): Promise<number[] | null> {
  return mailbox === undefined ? allowedAccounts(call) : [(await namedMailbox(call, mailbox)).id];
}

async function requestedDomain(call: Call, domain: string | undefined): Promise<string | null> {
  return domain === undefined ? null : (await findOwnDomain(call, { domain })).name;
}

/** Rounds to whole hours or days, from the start of the history. */
function spanOf(
  call: Call,
  { from, to, bucket }: { from: string; to?: string | undefined; bucket: 'hour' | 'day' },
): { from: number; to: number; step: number } {
  const now = call.clock();
  const step = bucket === 'hour' ? 1 : DAY_HOURS;
  const first = Math.max(Date.parse(from), now - HISTORY_RETENTION_MS);
  const last = Math.min(to === undefined ? now : Date.parse(to), now);
  if (last < first) return wrong('to', 'is before from, or from is in the future, or to is over 90 days ago');
  const begin = Math.floor(first / HOUR_MS / step);
  const end = Math.max(begin + 1, Math.ceil(last / HOUR_MS / step));
  if (end - begin > MAX_BUCKETS) {
    return wrong('from', `covers ${end - begin} hours, and one answer has at most ${MAX_BUCKETS}`);
  }
  return { from: begin * step, to: end * step, step };
}

function wrong(path: 'from' | 'to', message: string): never {
  const next = path === 'from' ? 'Use bucket "day" or a shorter range.' : 'Give times of the last 90 days, in order.';
  return refuse('invalid_arguments', `${path} ${message}. ${next}`, { issues: [{ path, message }] });
}

function seriesOf(counts: readonly JournalCount[]): { at: string; counts: Record<string, number> }[] {
  return [...Map.groupBy(counts, ({ hour }) => hour)].map(([hour, some]) => ({
    at: isoOf(hour * HOUR_MS),
    counts: sumOf(some),
  }));
}

/** Sums counts; keys are always in the same order. */
function sumOf(counts: readonly JournalCount[]): Partial<Record<JournalCounter, number>> & Record<string, number> {
  const sums = JOURNAL_COUNTERS.map((kind) => [
    kind,
    counts.reduce((sum, one) => sum + (one.kind === kind ? one.n : 0), 0),
  ]);
  return Object.fromEntries(sums.filter(([, n]) => n !== 0)) as Record<string, number>;
}
