import { afterEach, beforeEach, expect, test } from 'vitest';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { finishAttempts } from '../../mail/relay/store-queue.ts';
import { addBlob } from '../../mail/store/blob/blob.ts';
import { command } from '../../mail/store/engine/types.ts';
import { recordJournalEvent } from '../../mail/store/journal/journal.ts';
import {
  addListener,
  queueArrivalEvent,
  setListenerEnabled,
  removeListener,
} from '../../mail/store/notification/listener.ts';
import {
  countWebhookEvents,
  failedWebhookEvents,
  dueWebhookEvents,
  finishWebhookEvent,
  purgeWebhookEvents,
  newestWebhookEvent,
  type WebhookEventOutcome,
  replayWebhookEvent,
  replayWebhookEvents,
  trimWebhookEvents,
} from '../../mail/store/notification/webhook-event.ts';
import { enqueue } from '../../mail/store/queue/queue.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const hear = command(
  'test-hear',
  (tx, input: { tenant: number; account: number | null; events: readonly string[] }): Promise<number> =>
    addListener(tx, input),
);
const silence = command('test-silence', (tx, input: { listener: number }) => removeListener(tx, input.listener));
const turn = command('test-turn', (tx, input: { listener: number; on: boolean }, stamp) =>
  setListenerEnabled(tx, input.listener, input.on, stamp),
);
const arrive = command(
  'test-arrive',
  async (tx, input: { listener: number; account: number; emails: readonly number[] }, stamp) => {
    for (const email of input.emails) await queueArrivalEvent(tx, { ...input, email }, stamp);
  },
);
const happen = command(
  'test-happen',
  async (tx, input: { tenant?: number; account: number | null; event: 'submitted' | 'failed' | 'held' }, stamp) => {
    const detail = { to: ['x@y.example'], ...(input.event === 'submitted' && { here: ['me@box.test'] }) };
    const about = { messageId: '<m@box.test>', ...(input.tenant !== undefined && { tenant: input.tenant }) };
    await recordJournalEvent(tx, 'trace', input.event, input.account, detail, stamp, about);
  },
);
const leave = command('test-leave', async (tx, { tenant }: { tenant: number }, stamp): Promise<number[]> => {
  const blob = await addBlob(tx, { data: new Uint8Array(1) });
  const envelope = { trace: 'leaving', tenant, account: null, blob, sender: 'a@box.test', smtputf8: false };
  const row = { recipient: 'x@y.example', domain: 'y.example', notify: '', orcpt: '' };
  return enqueue(tx, { ...envelope, eightBit: false, ret: '', envid: '', signAs: [], size: 1 }, [row], null, stamp);
});
const end = command('test-end', (tx, input: { id: number; end: WebhookEventOutcome }, stamp) =>
  finishWebhookEvent(tx, input, stamp),
);

let box: TestStore;
let account: number;
let listener: number;

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, hear, silence, turn, arrive, happen, leave, end] });
  ({ account } = await testAccount(box.store, 'one'));
  listener = await box.store.write(hear, { tenant: 1, account, events: ['received'] });
});
afterEach(() => box[Symbol.asyncDispose]());

const due = (of = listener) => box.store.read(dueWebhookEvents, { listener: of, now: box.clock.now, limit: 100 });
const emails = async () => (await due()).map((one) => one.email);
const finish = (id: number | undefined, how: WebhookEventOutcome) => box.store.write(end, { id: id ?? 0, end: how });

test('what waits behind a retry is not due; after four attempts it is set aside, and the others go on', async () => {
  await box.store.write(arrive, { listener, account, emails: [11, 12, 13] });
  expect(await emails()).toEqual([11, 12, 13]);
  const [head] = await due();
  for (const attempt of [1, 2, 3]) {
    await finish(head?.id, { kind: 'later', at: box.clock.now + 60_000 });
    expect(await due()).toEqual([]);
    box.clock.now += 60_000;
    expect((await due()).map((one) => [one.email, one.attempts])[0]).toEqual([11, attempt]);
  }
  await finish(head?.id, { kind: 'later', at: box.clock.now + 60_000 });
  expect(await emails()).toEqual([12, 13]);
  box.clock.now += 60_000;
  expect(await emails()).toEqual([11, 12, 13]);
});

test('what was reported or given up is not due again, and what was given up is listed', async () => {
  await box.store.write(arrive, { listener, account, emails: [11, 12, 13] });
  const [first, second] = await due();
  await finish(first?.id, { kind: 'told' });
  await finish(second?.id, { kind: 'dead' });
  expect(await emails()).toEqual([13]);
  expect(await box.store.read(countWebhookEvents, { listener })).toEqual({ waiting: 1, dead: 1 });
  const dead = await box.store.read(failedWebhookEvents, { listener, before: 1e9, limit: 10 });
  expect(dead.map((one) => one.email)).toEqual([12]);
});

test('replay: what was reported gets a new id, what was given up keeps its own, what waits is left alone', async () => {
  await box.store.write(arrive, { listener, account, emails: [11, 12, 13] });
  const [first, second, third] = await due();
  await finish(first?.id, { kind: 'told' });
  await finish(second?.id, { kind: 'dead' });
  const range = { listener, since: box.clock.now, until: box.clock.now + 1, after: 0 };
  const upTo = await box.store.read(newestWebhookEvent, undefined);
  expect(await box.store.write(replayWebhookEvents, { ...range, upTo })).toMatchObject({
    kind: 'replayed',
    count: 2,
    after: null,
  });
  const again = await due();
  expect(again.map((one) => one.email)).toEqual([12, 13, 11]);
  expect(again.map((one) => one.id).slice(0, 2)).toEqual([second?.id, third?.id]);
  expect(again.at(-1)?.id).toBeGreaterThan(third?.id ?? 0);
  for (const one of again) await finish(one.id, { kind: 'told' });
  // A replay repeats what happened, not what was repeated.
  const later = await box.store.read(newestWebhookEvent, undefined);
  expect(await box.store.write(replayWebhookEvents, { ...range, upTo: later })).toMatchObject({ count: 3 });
  expect(await box.store.write(replayWebhookEvents, { ...range, since: box.clock.now + 1, upTo: later })).toMatchObject(
    {
      kind: 'none',
    },
  );
});

test('a range is replayed in slices, each behind the one before', async () => {
  const many = Array.from({ length: 450 }, (_, i) => i + 1);
  await box.store.write(arrive, { listener, account, emails: many });
  for (const one of await box.store.read(dueWebhookEvents, { listener, now: box.clock.now, limit: 1000 })) {
    await finish(one.id, { kind: 'told' });
  }
  const upTo = await box.store.read(newestWebhookEvent, undefined);
  const range = { listener, since: 0, until: box.clock.now + 1, upTo };
  const slice = await box.store.write(replayWebhookEvents, { ...range, after: 0 });
  expect(slice.count).toBe(400);
  const rest = await box.store.write(replayWebhookEvents, { ...range, after: slice.after ?? 0 });
  expect(rest).toMatchObject({ count: 50, after: null });
  expect(await box.store.read(countWebhookEvents, { listener })).toEqual({ waiting: 450, dead: 0 });
});

test('a notice of another listener cannot be replayed', async () => {
  await box.store.write(arrive, { listener, account, emails: [11] });
  const [one] = await due();
  const other = await box.store.write(hear, { tenant: 2, account: null, events: ['failed'] });
  expect(await box.store.write(replayWebhookEvent, { listener: other, id: one?.id ?? 0 })).toEqual({ kind: 'missing' });
});

test('a tenant hears of its own mail, and of the events it asked for', async () => {
  const mine = await box.store.write(hear, { tenant: 1, account: null, events: ['submitted', 'delivered', 'failed'] });
  const few = await box.store.write(hear, { tenant: 1, account: null, events: ['failed'] });
  const foreign = await box.store.write(hear, { tenant: 2, account: null, events: ['submitted', 'failed'] });
  await box.store.write(happen, { account, event: 'submitted' });
  await box.store.write(happen, { account: null, tenant: 1, event: 'failed' });
  await box.store.write(happen, { account, event: 'held' });
  await box.store.write(happen, { account: null, event: 'failed' });
  expect((await due(mine)).map((one) => one.event)).toEqual(['submitted', 'delivered', 'failed']);
  expect((await due(mine))[0]?.detail).toMatchObject({ to: ['x@y.example'], id: '<m@box.test>' });
  expect((await due(mine))[1]?.detail).toMatchObject({ to: 'me@box.test' });
  expect((await due(few)).map((one) => one.event)).toEqual(['failed']);
  expect(await due(foreign)).toEqual([]);
  expect(await due()).toEqual([]);
});

test('how an attempt at a recipient elsewhere ended is reported in the commit that writes it down', async () => {
  const mine = await box.store.write(hear, { tenant: 1, account: null, events: ['deferred', 'failed'] });
  const [row = 0] = await box.store.write(leave, { tenant: 1 });
  const at = box.clock.now;
  const how = { host: 'mx.example', ip: '192.0.2.1', tls: '', at, nextAt: at + 1 };
  const later = { id: row, outcome: 'deferred', code: 451, status: '4.7.1', text: 'Greylisted', ...how } as const;
  const never = { id: row, outcome: 'failed', code: 550, status: '5.1.1', text: 'No such user', ...how } as const;
  for (const one of [later, never]) {
    await box.store.write(finishAttempts, { ends: [one], bounces: [], fallbacks: [] });
  }
  expect((await due(mine)).map(({ event, trace, detail }) => [event, trace, detail])).toMatchObject([
    ['deferred', 'leaving', { to: 'x@y.example', host: 'mx.example', code: 451, status: '4.7.1', text: 'Greylisted' }],
    ['failed', 'leaving', { to: 'x@y.example', host: 'mx.example', code: 550, status: '5.1.1', text: 'No such user' }],
  ]);
});

test('while it is off everything waits, in order; too much and too old goes', async () => {
  await box.store.write(turn, { listener, on: false });
  await box.store.write(arrive, { listener, account, emails: [11, 12, 13, 14] });
  expect(await box.store.write(trimWebhookEvents, { listener, keep: 3 })).toBe(false);
  await box.store.write(turn, { listener, on: true });
  expect(await emails()).toEqual([12, 13, 14]);
  await box.store.write(purgeWebhookEvents, { before: box.clock.now + 1 });
  expect(await emails()).toEqual([]);
});

test('who is silenced hears nothing that waited, even when the account listens again', async () => {
  await box.store.write(arrive, { listener, account, emails: [11] });
  await box.store.write(silence, { listener });
  const next = await box.store.write(hear, { tenant: 1, account, events: ['received'] });
  expect(next).not.toBe(listener);
  expect(await due(next)).toEqual([]);
});
