import { z } from 'zod';
import { type Count, COUNTED, type Counted, DAY_HOURS, journalCounts } from '../../../mail/store/journal-count.ts';
import { KEEP_HISTORY_MS } from '../../../mail/store/tidy.ts';
import { type Call, operation } from '../operation.ts';
import { InMailbox, namedMailbox } from '../reading/which.ts';
import { refuse } from '../refusal.ts';
import { isoOf, Line } from '../schemas.ts';
import { allowedAccounts, domainOf } from '../scope.ts';
import { indexNow } from '../trace/find.ts';

const HOUR_MS = 3_600_000;
/** Hours or days of one answer. */
const MOST_BUCKETS = 400;

/** By what is counted: the description of the tool names it. */
const Counts = z.record(z.string(), z.number());

export const getEmailStats = operation({
  name: 'get_email_stats',
  title: 'Mail in numbers',
  toolset: 'analytics',
  reach: 'mailbox',
  action: 'read',
  description:
    'Counts mail of the last 90 days (UTC): received, junk, refused, sent; of recipients elsewhere delivered, deferred (tries), bounced; complained, suppressed. Leaves out what is 0. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    ...InMailbox,
    domain: Line(1, 255).optional(),
    from: z.iso.datetime(),
    to: z.iso.datetime().optional(),
    bucket: z.enum(['hour', 'day']).default('day'),
  }),
  output: z.object({
    from: z.string(),
    to: z.string(),
    series: z.array(z.object({ at: z.string(), counts: Counts })),
    totals: Counts,
  }),
  rest: { method: 'GET', path: '/api/email/stats' },
  async run(call, input) {
    const which = { accounts: await accountsAsked(call, input.mailbox), domain: await domainAsked(call, input.domain) };
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

async function accountsAsked(call: Call, mailbox: string | undefined): Promise<number[] | null> {
  return mailbox === undefined ? allowedAccounts(call) : [(await namedMailbox(call, mailbox)).id];
}

async function domainAsked(call: Call, domain: string | undefined): Promise<string | null> {
  return domain === undefined ? null : (await domainOf(call, { domain })).name;
}

/** Whole hours or days, from where there is history. */
function spanOf(
  call: Call,
  { from, to, bucket }: { from: string; to?: string | undefined; bucket: 'hour' | 'day' },
): { from: number; to: number; step: number } {
  const now = call.clock();
  const step = bucket === 'hour' ? 1 : DAY_HOURS;
  const first = Math.max(Date.parse(from), now - KEEP_HISTORY_MS);
  const last = Math.min(to === undefined ? now : Date.parse(to), now);
  if (last < first) return wrong('to', 'is before from, or from is in the future, or to is over 90 days ago');
  const begin = Math.floor(first / HOUR_MS / step);
  const end = Math.max(begin + 1, Math.ceil(last / HOUR_MS / step));
  if (end - begin > MOST_BUCKETS) {
    return wrong('from', `has ${end - begin} hours up to the end, and ${MOST_BUCKETS} are answered at once`);
  }
  return { from: begin * step, to: end * step, step };
}

function wrong(path: 'from' | 'to', message: string): never {
  const next = path === 'from' ? 'Ask for days, or for a shorter time.' : 'Give times of the last 90 days, in order.';
  return refuse('invalid_arguments', `${path} ${message}. ${next}`, { issues: [{ path, message }] });
}

function seriesOf(counts: readonly Count[]): { at: string; counts: Record<string, number> }[] {
  return [...Map.groupBy(counts, ({ hour }) => hour)].map(([hour, some]) => ({
    at: isoOf(hour * HOUR_MS),
    counts: sumOf(some),
  }));
}

/** Always in the same order, whatever came first. */
function sumOf(counts: readonly Count[]): Partial<Record<Counted, number>> & Record<string, number> {
  const sums = COUNTED.map((kind) => [kind, counts.reduce((sum, one) => sum + (one.kind === kind ? one.n : 0), 0)]);
  return Object.fromEntries(sums.filter(([, n]) => n !== 0)) as Record<string, number>;
}
