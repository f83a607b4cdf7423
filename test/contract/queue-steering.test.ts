import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mailParts } from '../../mail/store-thread-parts.ts';
import type { AttemptResult } from '../../mail/store/queue/queue.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { command } from '../../mail/store/engine/types.ts';
import { journalOf, OPERATOR_VIEW } from '../../mail/store/journal/journal.ts';
import { outboundRoutes, removeOutboundRoute, setOutboundRoute } from '../../mail/store/queue/outbound-route.ts';
import { addRows, addSubmission } from '../../mail/store/queue/queue.ts';
import { listQueue, queueOfTrace } from '../../mail/store/queue/queue-rows.ts';
import { type Steer, changeQueue } from '../../mail/store/queue/queue-change.ts';
import { testStore, type TestStore } from '../support/store.ts';

const HOUR = 3_600_000;

/** A message to these. */
const put = command(
  'test-put',
  async (tx, input: { trace: string; tenant: number; to: readonly string[] }, stamp): Promise<number[]> => {
    const message = { trace: input.trace, tenant: input.tenant, account: null, blob: 0, sender: 'me@box.test' };
    const octets = { smtputf8: false, eightBit: false, ret: '', envid: '', signAs: [], size: 1 };
    const submission = await addSubmission(tx, { ...message, ...octets }, stamp);
    const rows = input.to.map((recipient) => {
      return { recipient, domain: recipient.slice(recipient.indexOf('@') + 1), notify: '', orcpt: '' };
    });
    return addRows(tx, { ...message, submission }, rows, null, stamp);
  },
);

const ROUTE = {
  ref: 'r',
  tenant: 1,
  receiver: '',
  sender: '',
  use: 'always',
  host: 'relay.test',
  port: 587,
  tls: 'starttls',
  certificate: 'verified',
  username: '',
  password: null,
} as const;

let box: TestStore;
let queue: StoreQueue;

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, put] });
  queue = new StoreQueue({ store: box.store, hold: null, traceId: () => 'report' });
});
afterEach(() => box[Symbol.asyncDispose]());

const steer = (what: Steer['what'], change: Partial<Steer> = {}) =>
  box.store.write(changeQueue, { ids: 'all', what, tenant: null, accounts: null, ...change });

const events = async (trace: string): Promise<string[]> =>
  (await box.store.read(journalOf, { ...OPERATOR_VIEW, trace })).map((line) => line.event);

function ended(id: number, outcome: AttemptResult['outcome'], change: Partial<AttemptResult> = {}): AttemptResult {
  const at = box.clock.now;
  const said = { host: 'mx.test', ip: '', code: 0, status: '4.0.0', text: 'later', tls: '' };
  return { id, outcome, ...said, at, nextAt: at + HOUR, ...change };
}

const due = async () =>
  (await queue.due({ now: box.clock.now, limit: 100, lanes: [], owners: [], after: undefined })).items;

describe('what a person does while a message is on the wire', () => {
  let id: number;
  beforeEach(async () => {
    [id = 0] = await box.store.write(put, { trace: 't', tenant: 1, to: ['you@a.test'] });
    await queue.begin([{ id, nextAt: box.clock.now + HOUR }]);
  });

  test('cancelled: it is never tried again, and that it left all the same is reported once', async () => {
    await steer('cancel');
    const end = ended(id, 'delivered', { trace: 't', to: 'you@a.test' });
    await queue.finish([end], []);
    await queue.finish([end], []);
    expect(await events('t')).toEqual(['cancelled', 'delivered']);
    expect(await box.store.read(queueOfTrace, { ...OPERATOR_VIEW, trace: 't' })).toEqual([]);
    expect(await queue.begin([{ id, nextAt: 0 }])).toEqual([]);
  });

  test('held: it stays held when the attempt puts it off, and is gone when it left', async () => {
    await steer('hold');
    await queue.finish([ended(id, 'deferred')], []);
    expect(await box.store.read(queueOfTrace, { ...OPERATOR_VIEW, trace: 't' })).toMatchObject([
      { state: 1, last_text: 'later' },
    ]);
    expect(await due()).toEqual([]);
    await queue.finish([ended(id, 'delivered')], []);
    expect(await box.store.read(queueOfTrace, { ...OPERATOR_VIEW, trace: 't' })).toEqual([]);
  });

  test('sent another way: it takes it from the next attempt on', async () => {
    expect(await steer('reroute', { route: { id: 0, name: 'direct' } })).toMatchObject({ kind: 'changed' });
    await queue.finish([ended(id, 'deferred', { nextAt: box.clock.now })], []);
    expect(await due()).toMatchObject([{ attempts: 1, nextHop: { via: undefined, failover: undefined } }]);
    expect(await events('t')).toEqual(['rerouted', 'deferred']);
  });

  test('its organization removed: what failed makes no bounce any more', async () => {
    expect(await steer('cancel', { tenant: 1 })).toMatchObject({ changed: 1 });
    const bounce = { kind: 'failure', about: [id], bytes: Buffer.from('Subject: x\r\n\r\n') } as const;
    await queue.finish([ended(id, 'failed')], [{ ...bounce, recipient: { local: 'me', domain: 'away.test' } }]);
    expect(await box.store.read(queueOfTrace, { ...OPERATOR_VIEW, trace: 'report' })).toEqual([]);
    expect(await due()).toEqual([]);
  });

  describe('of many, whose results are several commits', () => {
    let ids: number[];
    const away = { kind: 'failure', bytes: Buffer.from('Subject: x\r\n\r\n') } as const;
    const told = () => box.store.read(queueOfTrace, { ...OPERATOR_VIEW, trace: 'report' });
    const finish = (about: readonly number[] = ids) =>
      queue.finish(
        ids.map((one) => ended(one, 'failed')),
        [{ ...away, about, recipient: { local: 'me', domain: 'away.test' } }],
      );
    beforeEach(async () => {
      const to = Array.from({ length: 120 }, (_, n) => `u${n}@b.test`);
      ids = await box.store.write(put, { trace: 'many', tenant: 1, to });
      await queue.begin(ids.map((one) => ({ id: one, nextAt: box.clock.now + HOUR })));
    });

    test('the first cancelled: its sender is informed of the others, once', async () => {
      await steer('cancel', { ids: ids.slice(0, 60) });
      await finish();
      expect(await told()).toHaveLength(1);
      expect((await events('many')).filter((event) => event === 'bounced')).toHaveLength(1);
      expect(await box.store.read(queueOfTrace, { ...OPERATOR_VIEW, trace: 'many' })).toEqual([]);
    });

    test('none cancelled: once, also when a part of the results is written again', async () => {
      await finish();
      await finish();
      expect(await told()).toHaveLength(1);
    });

    test('a report that was reported before the process died is not reported again with the rest', async () => {
      const half = ids.slice(0, 50);
      const about = { ...away, about: ids, recipient: { local: 'me', domain: 'away.test' } };
      await queue.finish(
        half.map((one) => ended(one, 'failed')),
        [about],
      );
      expect(await told()).toHaveLength(1);
      await finish(ids.slice(50));
      expect(await told()).toHaveLength(1);
    });
  });

  test('a result that is written twice is reported once', async () => {
    const end = ended(id, 'delivered', { trace: 't', to: 'you@a.test' });
    await queue.finish([end], []);
    await queue.finish([end], []);
    expect(await events('t')).toEqual(['delivered']);
  });
});

describe('many at once', () => {
  test('by destination, message and tenant, in slices of 500', async () => {
    const to = Array.from({ length: 700 }, (_, n) => `u${n}@a.test`);
    await box.store.write(put, { trace: 'many', tenant: 1, to: [...to, 'x@b.test'] });
    await box.store.write(put, { trace: 'other', tenant: 1, to: ['y@b.test'] });
    await box.store.write(put, { trace: 'foreign', tenant: 2, to: ['z@b.test'] });
    const first = await steer('retry', { tenant: 1, domain: 'a.test' });
    expect(first).toMatchObject({ changed: 500, last: 500 });
    expect(await steer('retry', { tenant: 1, domain: 'a.test', after: first.last ?? 0 })).toEqual({
      kind: 'changed',
      changed: 200,
      last: undefined,
    });
    expect(await steer('hold', { tenant: 1, domain: 'b.test' })).toMatchObject({ changed: 2 });
    expect(await steer('release', { tenant: 1, trace: 'many' })).toMatchObject({ changed: 1 });
    expect(await steer('cancel', { tenant: 1, trace: 'other' })).toMatchObject({ changed: 1 });
    expect(await steer('hold', { tenant: 1, trace: 'foreign' })).toMatchObject({ kind: 'none' });
  });
});

describe('a route', () => {
  test('is followed by what waits, from the next look on, until it is removed', async () => {
    await box.store.write(put, { trace: 't', tenant: 1, to: ['you@a.test'] });
    await box.store.write(put, { trace: 'f', tenant: 2, to: ['you@a.test'] });
    const set = await box.store.write(setOutboundRoute, ROUTE);
    const id = set.kind === 'set' ? set.id : 0;
    expect((await due()).map((row) => [row.tenant, row.nextHop.via])).toEqual([
      [2, undefined],
      [1, id],
    ]);
    expect(await box.store.write(removeOutboundRoute, { tenant: 2, id })).toEqual({ kind: 'missing' });
    expect(await box.store.write(removeOutboundRoute, { tenant: 1, id })).toEqual({ kind: 'removed' });
    expect((await due()).map((row) => row.nextHop.via)).toEqual([undefined, undefined]);
  });

  test('is one for each scope, and a hundred for a tenant', async () => {
    for (let n = 0; n < 100; n++)
      await box.store.write(setOutboundRoute, { ...ROUTE, ref: `r${n}`, receiver: `d${n}.test` });
    expect(await box.store.write(setOutboundRoute, { ...ROUTE, ref: 'new' })).toEqual({ kind: 'too-many' });
    const again = { ...ROUTE, ref: 'again', receiver: 'd5.test', use: 'failover' } as const;
    expect(await box.store.write(setOutboundRoute, again)).toMatchObject({ kind: 'set' });
    const all = await box.store.read(outboundRoutes, { tenants: [1] });
    expect(all).toHaveLength(100);
    expect(all.filter((one) => one.use === 'failover')).toMatchObject([{ ref: 'again', receiver: 'd5.test' }]);
  });

  test('of another tenant cannot be chosen', async () => {
    const [id = 0] = await box.store.write(put, { trace: 't', tenant: 2, to: ['you@a.test'] });
    const set = await box.store.write(setOutboundRoute, ROUTE);
    const route = { id: set.kind === 'set' ? set.id : 0, name: 'x' };
    expect(await steer('reroute', { ids: [id], tenant: 2, route })).toMatchObject({ kind: 'no-route', changed: 0 });
  });

  test('takes over a row whose receiver refused this server, and the journal says why', async () => {
    const [id = 0] = await box.store.write(put, { trace: 't', tenant: 1, to: ['you@a.test'] });
    const set = await box.store.write(setOutboundRoute, { ...ROUTE, use: 'failover' });
    const via = set.kind === 'set' ? set.id : 0;
    expect((await due())[0]?.nextHop).toEqual({ via: undefined, failover: via });
    await queue.begin([{ id, nextAt: box.clock.now + HOUR }]);
    await queue.finish([ended(id, 'deferred', { via, nextAt: box.clock.now })], []);
    expect((await due())[0]?.nextHop).toEqual({ via, failover: undefined });
    const story = await box.store.read(journalOf, { ...OPERATOR_VIEW, trace: 't' });
    expect(story.map((line) => line.event)).toEqual(['deferred', 'rerouted']);
    expect(story[1]?.detail).toMatchObject({ to: 'you@a.test', because: expect.stringContaining('refused') });
    const filter = { tenant: 1, accounts: null, state: null, domain: null, after: 0, limit: 9 };
    expect(await box.store.read(listQueue, filter)).toMatchObject([{ route: via }]);
  });
});
