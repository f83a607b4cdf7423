import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliver } from '../../mail/delivery/deliver.ts';
import { submit } from '../../mail/delivery/submission-commit.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';
import { parseDomain } from '../../mail/message/address.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { journalOf, recordJournalEvent, OPERATOR_VIEW } from '../../mail/store/journal/journal.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { purgeHistory } from '../../mail/store/retention/purge.ts';
import { rowId } from '../../src/core/ids.ts';
import { type Tenant, type Tenants, twoTenants } from '../support/tenants.ts';
import type { ForwardedCopy } from '../../mail/delivery/types.ts';
import { onPostgres } from '../support/test-database.ts';

type Shown = {
  message: Record<string, unknown>;
  timeline: { at: string; event: string; recipient?: string; explanation: string; untrusted?: { text: string } }[];
  envelope: { mailFrom: string; rcptTo: string[] };
  sha256: string | null;
  alsoFound: { messageId: string }[];
};

const unowned = command('test-unowned', (tx, { trace: id }: { trace: string }, stamp) =>
  recordJournalEvent(tx, id, 'held', null, {}, stamp),
);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await twoTenants({}, [unowned]);
});
afterAll(() => tenants[Symbol.asyncDispose]());

const trace = async (args: object, who: Tenant): Promise<Shown> =>
  (await tenants.do('trace_message', args, who.caller)) as Shown;
const events = ({ timeline }: Shown): string[] => timeline.map((one) => one.event);
const accountOf = ({ main }: Tenant): number => rowId('mailbox', main.mailboxId) ?? 0;
const tenantOf = ({ main }: Tenant): number => rowId('organization', main.organizationId) ?? 0;
const octets = (from: string, id: string): Uint8Array =>
  Uint8Array.from(Buffer.from(`From: <${from}>\r\nMessage-ID: <${id}>\r\nSubject: hello\r\n\r\nhello\r\n`));

function goingOn(who: Tenant, to: string): ForwardedCopy {
  const domain = parseDomain(to.slice(to.indexOf('@') + 1)) ?? '';
  const row = { recipient: to, domain, notify: 'NEVER', orcpt: '' };
  const source = who.main.address;
  return {
    tenant: tenantOf(who),
    sender: `SRS0=x@${who.main.domain}`,
    signAs: [],
    prefix: '',
    smtputf8: false,
    row,
    source,
  };
}

/** From the world, to the mailboxes of some and on by the forwards of others. */
async function arrived(id: string, to: readonly Tenant[], onward: readonly ForwardedCopy[] = []): Promise<void> {
  const data = octets('you@world.example', `${id}@world.example`);
  const deliveries = to.map((one) => ({ account: accountOf(one), to: one.main.address, trace: '' }));
  const from = { ip: '192.0.2.1', helo: 'mx.world.example' };
  const rest = { onward, eightBit: false, hold: null, data, file: null, index: indexMessage(data) };
  await tenants.world.store.write(deliver, { trace: id, sender: 'you@world.example', deliveries, from, ...rest });
}

/** From the mailbox of one organization to the other and to the world, where the other's forward leads it on. */
async function sent(id: string, by: Tenant, to: Tenant, away: string): Promise<number[]> {
  const sender = by.main.address;
  const mail = outgoing(octets(sender, `${id}@${by.main.domain}`), [away], {
    trace: id,
    account: accountOf(by),
    tenant: tenantOf(by),
    sender,
    here: [{ account: accountOf(to), to: `inner@${to.main.domain}`, trace: '' }],
    local: [`outer@${to.main.domain}`],
    onward: [goingOn(to, `secret@${to.word}.example`)],
  });
  const done = await tenants.world.store.write(submit, unlimitedSubmission(mail));
  if (done.kind !== 'taken') throw new Error('it was not taken');
  return done.rows;
}

test('what came by an alias is found by the address of its mailbox, by this organization only', async () => {
  const { a, b } = tenants;
  tenants.clock.now += 1; // it is the newest
  const data = octets('you@world.example', 'alias@world.example');
  const deliveries = [{ account: accountOf(a), to: `sales@${a.main.domain}`, trace: '' }];
  const rest = { onward: [], eightBit: false, hold: null, data, file: null, index: indexMessage(data) };
  const from = { ip: '192.0.2.1', helo: 'mx.world.example' };
  await tenants.world.store.write(deliver, {
    trace: 'by-alias',
    sender: 'alias@world.example',
    deliveries,
    from,
    ...rest,
  });
  expect((await trace({ address: a.main.address }, a)).message['messageId']).toBe('by-alias');
  expect((await trace({ address: `sales@${a.main.domain}` }, a)).message['messageId']).toBe('by-alias');
  expect((await tenants.try('trace_message', { address: a.main.address }, b.caller)).kind).toBe('refused');
});

describe('a message between two organizations', () => {
  test('is reported to each as far as it is its own', async () => {
    const { a, b, world } = tenants;
    const [row = 0] = await sent('between', a, b, 'friend@away.example');
    const queue = new StoreQueue({ store: world.store, hold: null, traceId: () => 'never' });
    const end = {
      host: 'mx.away.example',
      ip: '192.0.2.9',
      code: 250,
      status: '2.0.0',
      text: '250 ok',
      tls: 'TLSv1.3 X, certificate verified',
    };
    await queue.finish([{ id: row, outcome: 'delivered', at: world.clock(), nextAt: 0, ...end }], []);

    const mine = await trace({ messageId: 'between' }, a);
    expect(events(mine)).toEqual(['accepted', 'delivered', 'queued', 'delivered']);
    expect(mine.message).toMatchObject({ direction: 'sent', waiting: 0, rfc822MessageId: '<between@alpha-main.test>' });
    expect(mine.envelope).toEqual({
      mailFrom: a.main.address,
      rcptTo: ['outer@bravo-main.test', 'friend@away.example'],
    });
    expect(mine.timeline.at(-1)).toMatchObject({ host: 'mx.away.example', code: 250, tls: end.tls });
    expect(mine.timeline.at(-1)?.untrusted).toEqual({ text: '250 ok' });
    // Deliveries inside the other organization are not shown.
    expect(JSON.stringify(mine)).not.toMatch(/inner@|secret@|SRS0|"mailboxMessageIds":\["/);

    const theirs = await trace({ messageId: 'between' }, b);
    expect(events(theirs)).toEqual(['accepted', 'relayed', 'webhook', 'queued']);
    expect(theirs.message).toMatchObject({ direction: 'received', waiting: 1 });
    expect(theirs.envelope).toEqual({ mailFrom: a.main.address, rcptTo: ['inner@bravo-main.test'] });
    expect(JSON.stringify(theirs)).toContain('secret@bravo.example');
    expect(JSON.stringify(theirs)).not.toMatch(/friend@away|outer@/);

    const all = await world.store.read(journalOf, { trace: 'between', ...OPERATOR_VIEW });
    expect(all.map((line) => line.event)).toEqual(['submitted', 'received', 'forwarded', 'delivered']);
  });

  test('is found by its Message-ID and by addresses, by those who have a part in it', async () => {
    const { a, b } = tenants;
    for (const who of [a, b]) {
      for (const id of ['between@alpha-main.test', ' <between@alpha-main.test> ']) {
        expect((await trace({ rfc822MessageId: id }, who)).message['messageId']).toBe('between');
      }
    }
    expect((await trace({ address: 'Friend@AWAY.example' }, a)).message['messageId']).toBe('between');
    const never = await tenants.try('trace_message', { address: 'nobody@away.example' }, b.caller);
    const foreign = await tenants.try('trace_message', { address: 'friend@away.example' }, b.caller);
    const said = [never, foreign].map((one) => ({ ...(one as { refusal: object }).refusal, requestId: '' }));
    expect(said[0]).toMatchObject({ error: 'not_found', resource: 'message' });
    expect(said[0]).toEqual(said[1]);
  });

  test('that came from the world names to each its own recipients and copies only', async () => {
    const { a, b } = tenants;
    await arrived('came', [a, b]);
    for (const who of [a, b]) {
      const found = await trace({ address: 'you@world.example' }, who);
      expect(found.envelope).toEqual({ mailFrom: 'you@world.example', rcptTo: [who.main.address] });
      expect(JSON.stringify(found)).not.toContain(who === a ? 'bravo' : 'alpha');
      const [id] = found.message['mailboxMessageIds'] as string[];
      expect((await trace({ messageId: id }, who)).message['messageId']).toBe('came');
      const other = await tenants.try('trace_message', { messageId: id }, (who === a ? b : a).caller);
      expect(other).toMatchObject({ kind: 'refused', refusal: { error: 'not_found' } });
    }
  });

  test('has the hash of its octets as long as somebody has them', async () => {
    const { a, b } = tenants;
    const [mine, theirs] = [await trace({ messageId: 'came' }, a), await trace({ messageId: 'came' }, b)];
    expect(mine.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(theirs.sha256).toBe(mine.sha256);
  });
});

test('an address that only forwards has a story too: who sent it, where it went, and that it waits', async () => {
  const { a } = tenants;
  await arrived('through', [], [goingOn(a, 'boss@alpha.example')]);
  const found = await trace({ messageId: 'through' }, a);
  expect(events(found)).toEqual(['accepted', 'relayed', 'queued']);
  expect(found.message).toMatchObject({ direction: 'forwarded', waiting: 1 });
  expect(found.envelope).toEqual({ mailFrom: 'you@world.example', rcptTo: [a.main.address] });
  expect(found.timeline[0]?.explanation).toContain(`Received for ${a.main.address}`);
});

test('a line without an owner is of the one organization that the story has, and of none where there are several', async () => {
  const { a, b, world } = tenants;
  await arrived('one', [a]);
  await arrived('two', [a, b]);
  const left = query('test-left', (rx) =>
    rx.all<{ tenant: number | null }>("SELECT tenant FROM journal WHERE event = 'held'"),
  );
  for (const trace of ['one', 'two', 'nobody']) {
    await world.store.write(unowned, { trace });
  }
  const rows = await world.store.read(left, undefined);
  expect(rows.slice(-3).map((row) => row.tenant)).toEqual([tenantOf(a), null, null]);
});

test('of a very long story the beginning and the end are reported', async () => {
  const { a, world } = tenants;
  await arrived('long', [a]);
  for (let at = 0; at < 1_100; at += 100)
    await Promise.all(Array.from({ length: 100 }, () => world.store.write(unowned, { trace: 'long' })));
  const lines = await world.store.read(journalOf, { trace: 'long', ...OPERATOR_VIEW });
  expect([lines.length, lines[0]?.event, lines.at(-1)?.event]).toEqual([1000, 'received', 'held']);
});

test('an address names the newest message, then those before it, and none before the time that is asked for', async () => {
  const { a, clock } = tenants;
  for (const id of ['first', 'second']) {
    clock.now += 1000;
    await arrived(id, [a]);
  }
  const since = new Date(clock.now).toISOString();
  const all = await trace({ address: 'you@world.example' }, a);
  expect([all.message['messageId'], all.alsoFound[0]?.messageId]).toEqual(['second', 'first']);
  expect((await trace({ address: 'you@world.example', since }, a)).alsoFound).toEqual([]);
});

test.each([[{}], [{ messageId: 'came', address: 'you@world.example' }], [{ address: 'not an address' }]])(
  'asks for one name of a message: %j',
  async (args) => {
    const said = await tenants.try('trace_message', args);
    expect(said).toMatchObject({ kind: 'refused', refusal: { error: 'invalid_arguments' } });
  },
);

// Plans of SQLite.
test.skipIf(onPostgres)('looking for a message reads no lines of others', async () => {
  const plans = query('test-plans', async (rx) =>
    Promise.all(
      [
        `SELECT trace, at FROM journal_key WHERE tenant = 1 AND key = 2 AND at >= 0 ORDER BY at DESC LIMIT 60`,
        `SELECT 1 FROM journal WHERE trace = 'x'`,
        `SELECT 1 FROM submission s JOIN queue q ON q.submission_id = s.id WHERE s.trace = 'x'`,
      ].map(async (sql) => (await rx.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)).map((row) => row.detail)),
    ),
  );
  expect((await tenants.world.store.read(plans, undefined)).flat().filter((step) => step.startsWith('SCAN'))).toEqual(
    [],
  );
});

test('what is older than history goes, with all by which it was found; the last line keeps its number taken', async () => {
  const { a, world } = tenants;
  const count = query('test-count', async (rx) =>
    rx.get<{ n: number }>('SELECT (SELECT count(*) FROM journal) + (SELECT count(*) FROM journal_key) AS n'),
  );
  while (await world.store.write(purgeHistory, { before: world.clock() + 1 }));
  expect(await world.store.read(count, undefined)).toEqual({ n: 1 });
  expect(await tenants.try('trace_message', { messageId: 'came' }, a.caller)).toMatchObject({ kind: 'refused' });
});
