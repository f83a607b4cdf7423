import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliver } from '../../mail/delivery/deliver.ts';
import { submit } from '../../mail/delivery/submission-commit.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { type JournalEvent, recordJournalEvent } from '../../mail/store/journal/journal.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { purgeHistory } from '../../mail/store/retention/purge.ts';
import { rowId } from '../../src/core/ids.ts';
import type { Caller } from '../../src/core/caller.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';
import { type Tenant, type Tenants, type Things, twoTenants } from '../support/tenants.ts';
import { onPostgres } from '../support/test-database.ts';

type Counts = Record<string, number>;
type Stats = { from: string; to: string; series: { at: string; counts: Counts }[]; totals: Counts };

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Reported {
  trace: string;
  event: JournalEvent;
  tenant: number;
  account: number | null;
  detail?: Record<string, string>;
}

const tell = command('test-tell', (tx, { trace, event, tenant, account, detail = {} }: Reported, stamp) =>
  recordJournalEvent(tx, trace, event, account, detail, stamp, { tenant }),
);

let tenants: Tenants;
/** First hour of a day without journal events. */
let quietDay = 0;
beforeAll(async () => {
  tenants = await twoTenants({}, [tell]);
  quietDay = (Math.floor(tenants.clock.now / DAY) + 2) * DAY;
  tenants.clock.now = quietDay;
});
afterAll(() => tenants[Symbol.asyncDispose]());

const iso = (at: number): string => new Date(at).toISOString();
const accountOf = ({ mailboxId }: Things): number => rowId('mailbox', mailboxId) ?? 0;
const tenantOf = ({ main }: Tenant): number => rowId('organization', main.organizationId) ?? 0;
const ask = async (args: object, caller?: Caller): Promise<Stats> =>
  (await tenants.do('get_email_stats', { from: iso(quietDay), ...args }, caller)) as Stats;
const tells = (who: Tenant, event: JournalEvent, more: Partial<Reported> = {}): Promise<void> =>
  tenants.world.store.write(tell, { trace: event, event, tenant: tenantOf(who), account: null, ...more });
const octets = (id: string): Uint8Array =>
  Uint8Array.from(Buffer.from(`From: <you@world.example>\r\nMessage-ID: <${id}@world.example>\r\n\r\nhello\r\n`));

async function arrives(id: string, to: readonly Things[]): Promise<void> {
  const data = octets(id);
  const deliveries = to.map((one) => ({ account: accountOf(one), to: one.address, trace: '' }));
  const from = { ip: '192.0.2.1', helo: 'mx.world.example' };
  const rest = { from, onward: [], eightBit: false, hold: null, data, file: null, index: indexMessage(data) };
  await tenants.world.store.write(deliver, { trace: id, sender: 'you@world.example', deliveries, ...rest });
}

/** One message to two recipients elsewhere: to one at once, to the other at the second try. */
async function goes(by: Things, tenant: number): Promise<void> {
  const { world, clock } = tenants;
  const mail = outgoing(octets('gone'), ['a@away.example', 'b@away.example'], {
    trace: 'gone',
    account: accountOf(by),
    tenant,
    sender: by.address,
  });
  const done = await world.store.write(submit, unlimitedSubmission(mail));
  if (done.kind !== 'taken') throw new Error('it was not taken');
  const [first = 0, second = 0] = done.rows;
  const queue = new StoreQueue({ store: world.store, hold: null, traceId: () => 'never' });
  const end = {
    host: 'mx',
    ip: '192.0.2.9',
    code: 250,
    status: '2.0.0',
    text: 'ok',
    tls: '',
    at: clock.now,
    nextAt: 1,
  };
  await queue.finish([{ ...end, id: first, outcome: 'delivered' }], []);
  await queue.finish([{ ...end, id: second, outcome: 'deferred', code: 450 }], []);
  clock.now += HOUR;
  await queue.finish([{ ...end, id: second, outcome: 'delivered' }], []);
}

test('counts what came and left in each hour, and informs no organization of another', async () => {
  const { a, b } = tenants;
  await arrives('one', [a.main, b.main]);
  await arrives('two', [a.main, a.side]);
  await goes(a.main, tenantOf(a));
  const [early, later] = [iso(quietDay), iso(quietDay + HOUR)];
  expect(await ask({ bucket: 'hour', to: iso(quietDay + 2 * HOUR) })).toEqual({
    from: early,
    to: iso(quietDay + HOUR),
    series: [{ at: early, counts: { received: 3, sent: 1, delivered: 1, deferred: 1 } }],
    totals: { received: 3, sent: 1, delivered: 1, deferred: 1 },
  });
  tenants.clock.now += HOUR;
  expect((await ask({ bucket: 'hour' })).series[1]).toEqual({ at: later, counts: { delivered: 1 } });
  expect((await ask({})).series).toEqual([{ at: early, counts: { received: 3, sent: 1, delivered: 2, deferred: 1 } }]);
  expect((await ask({}, b.caller)).totals).toEqual({ received: 1 });
});

test('a mailbox, a domain and a limited token have their own part', async () => {
  const { a, b } = tenants;
  expect((await ask({ mailbox: a.side.address })).totals).toEqual({ received: 1 });
  expect((await ask({ domain: a.side.domain })).totals).toEqual({ received: 1 });
  expect((await ask({ domain: a.main.domain, mailbox: a.side.address })).totals).toEqual({});
  const limited = await tenants.caller({ actions: ['read'], mailboxIds: [a.side.mailboxId] });
  expect((await ask({}, limited)).totals).toEqual({ received: 1 });
  expect((await ask({ domain: a.main.domain }, limited)).totals).toEqual({});
  const refused = async (args: object, caller?: Caller) =>
    tenants.try('get_email_stats', { from: iso(quietDay), ...args }, caller);
  expect(await refused({ mailbox: a.main.address }, limited)).toMatchObject({ refusal: { error: 'out_of_scope' } });
  expect(await refused({ mailbox: b.main.address })).toMatchObject({ refusal: { error: 'not_found' } });
  expect(await refused({ domain: b.main.domain })).toMatchObject({ refusal: { error: 'not_found' } });
});

test('mail of no mailbox counts for the domain that it was sent from, and for no limited token', async () => {
  const { a } = tenants;
  const program = { trace: 'program', detail: { from: `news@${a.side.domain}` } };
  await tells(a, 'submitted', program);
  for (const event of ['delivered', 'failed', 'complained', 'suppressed'] as const)
    await tells(a, event, { trace: 'program', detail: { to: 'c@away.example' } });
  await tells(a, 'refused', { account: accountOf(a.side) });
  await tells(a, 'submitted', { trace: 'own', detail: { from: '' } });
  const counts = { received: 1, refused: 1, sent: 1, delivered: 1, bounced: 1, complained: 1, suppressed: 1 };
  expect((await ask({ domain: a.side.domain })).totals).toEqual(counts);
  // The box's own, which nobody sent, is not among it.
  expect((await ask({})).totals['sent']).toBe(2);
  const limited = await tenants.caller({ actions: ['read'], projectId: a.side.projectId });
  expect((await ask({}, limited)).totals).toEqual({ received: 1, refused: 1 });
});

test('a question is of at most 400 hours, and of the last 90 days', async () => {
  const { clock } = tenants;
  const problem = async (args: object): Promise<unknown> => {
    const said = await tenants.try('get_email_stats', args);
    return said.kind === 'refused' ? said.refusal.message : said.result;
  };
  const first = Math.floor(clock.now / HOUR) * HOUR - 399 * HOUR;
  clock.now += 1;
  expect(await problem({ from: iso(first), bucket: 'hour' })).toMatchObject({ from: iso(first) });
  expect(await problem({ from: iso(first - 1), bucket: 'hour' })).toContain('401 hours');
  const since = Math.floor((clock.now - 90 * DAY) / DAY) * DAY;
  expect(await problem({ from: '1999-01-01T00:00:00Z' })).toMatchObject({ from: iso(since) });
  expect(await problem({ from: '1999-01-01T00:00:00Z', to: '1999-02-01T00:00:00Z' })).toContain('last 90 days');
  expect(await problem({ from: iso(clock.now + DAY) })).toContain('in the future');
});

// Plans of SQLite.
test.skipIf(onPostgres)(
  'counting for one organization reads no counts of others, and forgetting no newer ones',
  async () => {
    const plans = query('test-plans', async (rx) =>
      Promise.all(
        [
          `SELECT hour, kind, sum(n) FROM journal_count WHERE tenant = 1 AND hour >= 2 AND hour < 26 GROUP BY 1, 2`,
          `SELECT tenant FROM journal_count WHERE hour < 3 ORDER BY hour LIMIT 200`,
        ].map(async (sql) => (await rx.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)).map((row) => row.detail)),
      ),
    );
    const [counts = [], discard = []] = await tenants.world.store.read(plans, undefined);
    expect(counts[0]).toBe('SEARCH journal_count USING PRIMARY KEY (tenant=? AND hour>? AND hour<?)');
    expect(discard).toEqual(['SEARCH journal_count USING COVERING INDEX journal_count_hour (hour<?)']);
  },
);

test('counts go with the history that they are of', async () => {
  const left = query('test-left', (rx) =>
    rx.all<{ hour: number }>('SELECT DISTINCT hour FROM journal_count ORDER BY 1'),
  );
  while (await tenants.world.store.write(purgeHistory, { before: quietDay + HOUR }));
  expect(await tenants.world.store.read(left, undefined)).toEqual(
    [1, 2].map((hour) => ({ hour: quietDay / HOUR + hour })),
  );
});
