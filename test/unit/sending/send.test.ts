import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { releaseWaiting } from '../../../mail/delivery/scheduled-messages.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { addSuppression } from '../../../mail/store/queue/suppression.ts';
import { rowId } from '../../../src/core/ids.ts';
import { freezeOrganization } from '../../../src/organizations/commands.ts';
import type { SendResult } from '../../../src/sending/send-result.ts';
import { SendWorld } from '../../support/send-world.ts';

const counts = query('test-counts', async (rx): Promise<Record<string, number>> => ({
  email: (await rx.get<{ n: number }>('SELECT count(*) AS n FROM email'))?.n ?? 0,
  queue: (await rx.get<{ n: number }>('SELECT count(*) AS n FROM queue'))?.n ?? 0,
  blob: (await rx.get<{ n: number }>('SELECT count(*) AS n FROM blob'))?.n ?? 0,
}));

let box: SendWorld;
beforeEach(async () => {
  box = await SendWorld.open();
});
afterEach(() => box[Symbol.asyncDispose]());

const suppress = (key: string) => box.world.store.write(addSuppression, { tenant: 1, key, source: 'test' });
const count = () => box.world.store.read(counts, undefined);

describe('a repeated request', () => {
  test('gets the first result, whatever changed in lists and mailboxes meanwhile', async () => {
    const to = ['you@x.example', 'me@a.test', 'sales@a.test'];
    await box.forward('sales@a.test', 'far@x.example');
    const first = await box.send({ to }, 'order-1');
    await suppress('you@x.example');
    await box.world.store.write(addSuppression, { tenant: 1, key: 'me@a.test', source: 'test' });
    const before = await count();
    const second = await box.send({ to }, 'order-1');
    expect(JSON.stringify({ ...second, duplicateOf: null })).toBe(JSON.stringify(first));
    expect(second.duplicateOf).toBe(first.id);
    expect(await count()).toEqual(before);
  });

  test('with another body is refused, after a day it counts as new, and other keys are independent', async () => {
    const first = await box.send({}, 'k');
    expect(await box.try({ subject: 'Other' }, 'k')).toMatchObject({ error: 'idempotency_conflict' });
    expect((await box.send({}, 'k', { credential: 'key_2' })).duplicateOf).toBeNull();
    box.made.store.clock.now += 24 * 3_600_000;
    const later = await box.send({ subject: 'Other' }, 'k');
    expect(later.duplicateOf).toBeNull();
    expect(later.id).not.toBe(first.id);
  });

  test('with fields in another order counts as the same', async () => {
    const parts = { headers: { 'X-A': '1', 'X-B': '2' }, tags: { a: '1', b: '2' }, metadata: { x: 1, y: true } };
    const turned = { metadata: { y: true, x: 1 }, tags: { b: '2', a: '1' }, headers: { 'X-B': '2', 'X-A': '1' } };
    const first = await box.send(parts, 'k');
    expect((await box.send(turned, 'k')).duplicateOf).toBe(first.id);
    expect(await box.try({ ...parts, tags: { a: '2', b: '1' } }, 'k')).toMatchObject({ error: 'idempotency_conflict' });
    const to = ['one@x.example', 'two@x.example'];
    await box.send({ to }, 'order');
    expect(await box.try({ to: to.toReversed() }, 'order')).toMatchObject({ error: 'idempotency_conflict' });
  });

  test('without a key counts as a duplicate for ten minutes if enabled, unless allowDuplicate is set', async () => {
    const guesses = { detectsDuplicates: true };
    const first = await box.send({}, undefined, guesses);
    expect(await box.send({}, undefined, guesses)).toEqual({ ...first, duplicateOf: first.id });
    expect((await box.send({ subject: 'Other' }, undefined, guesses)).duplicateOf).toBeNull();
    expect((await box.send({ allowDuplicate: true }, undefined, guesses)).duplicateOf).toBeNull();
    box.made.store.clock.now += 10 * 60_000;
    expect((await box.send({}, undefined, guesses)).duplicateOf).toBeNull();
    expect((await box.send({})).duplicateOf).toBeNull();
    expect((await box.send({})).duplicateOf).toBeNull();
  });
});

test('a dry run overtaken by the first request with its key returns that result', async () => {
  let first: Promise<SendResult> | undefined;
  await using raced = await SendWorld.open({
    async policy() {
      // Between the look at what was sent before and the gate's own.
      if (first === undefined) await (first = raced.send({}, 'k'));
      return { kind: 'allow' };
    },
  });
  const tried = await raced.send({ dryRun: true }, 'k');
  const sent = await first;
  expect(tried).toEqual({ ...sent, duplicateOf: sent?.id });
  expect(await raced.world.store.read(counts, undefined)).toMatchObject({ queue: 1 });
});

test('a request in progress when its organization is frozen sends nothing', async () => {
  await using raced = await SendWorld.open({
    async policy() {
      // Behind the look at the key, before the commit.
      await raced.world.store.write(freezeOrganization, { id: 1, frozen: true });
      return { kind: 'allow' };
    },
  });
  for (const over of [{}, { to: 'me@a.test' }, { sendAt: new Date(raced.world.clock() + 3_600_000).toISOString() }]) {
    expect(await raced.try(over)).toMatchObject({
      error: 'unauthorized',
      message: expect.stringContaining('frozen') as string,
    });
  }
  expect(await raced.world.store.read(counts, undefined)).toEqual({ email: 0, queue: 0, blob: 0 });
});

describe('local recipients that only forward', () => {
  beforeEach(() => box.forward('sales@a.test', 'far@x.example'));

  test('are recipients in the envelope and the record, and the relay is notified', async () => {
    const sent = await box.send({ to: 'sales@a.test' });
    expect(sent.envelope.rcptTo).toEqual(['sales@a.test']);
    expect(sent.recipients).toEqual([{ address: 'sales@a.test', state: 'delivered' }]);
    expect(box.made.events).toEqual(['queue changed']);
    expect((await box.status(sent.id)).status).toBe('delivered');
  });

  test('without a destination are refused by name', async () => {
    await box.forward('lost@a.test', 'nobody@a.test');
    expect(await box.try({ to: ['me@a.test', 'lost@a.test'] })).toMatchObject({
      error: 'recipient_blocked',
      recipients: ['lost@a.test'],
      message: expect.stringContaining('lost@a.test') as string,
    });
    expect(await count()).toMatchObject({ email: 0, queue: 0, blob: 0 });
  });
});

describe('a suppressed recipient', () => {
  test('gets nothing and is reported; the others get the message', async () => {
    await suppress('you@x.example');
    const sent = await box.send({ to: ['you@x.example', 'me@a.test', 'they@x.example'] });
    expect(sent.recipients).toEqual([
      { address: 'me@a.test', state: 'delivered' },
      { address: 'they@x.example', state: 'queued' },
      { address: 'you@x.example', state: 'suppressed' },
    ]);
    expect(sent.envelope.rcptTo).toEqual(['me@a.test', 'they@x.example']);
    expect(await count()).toMatchObject({ email: 1, queue: 1 });
    expect(await box.try({ cc: 'you@x.example', to: 'you@x.example' })).toMatchObject({
      error: 'recipient_blocked',
      recipients: [{ address: 'you@x.example', reason: 'manual' }],
    });
    expect(await box.send({ to: ['you@x.example', 'me@a.test'], dryRun: true })).toMatchObject({
      status: 'dry_run',
      envelope: { rcptTo: ['me@a.test'] },
    });
  });
});

describe('a policy', () => {
  test('may reject a message, or hold it until it is released or withdrawn', async () => {
    await using strict = await SendWorld.open({
      policy: ({ recipients }) =>
        recipients.includes('never@x.example')
          ? { kind: 'refuse', because: 'Nobody writes there' }
          : { kind: 'hold', because: 'A person looks at it first' },
    });
    expect(await strict.try({ to: 'never@x.example' })).toMatchObject({ message: 'Nobody writes there.' });
    const queried = { to: ['me@a.test', 'you@x.example'], idempotencyKey: 'held' };
    const sent = await strict.send(queried);
    expect(await strict.send(queried)).toEqual({ ...sent, duplicateOf: sent.id });
    expect(sent).toMatchObject({
      status: 'pending_approval',
      reasons: ['A person looks at it first'],
      outboxId: 'out_1',
    });
    expect((await strict.status(sent.id)).status).toBe('held');
    expect(await strict.world.store.read(counts, undefined)).toMatchObject({ email: 0, queue: 0, blob: 1 });
    const id = rowId('outbox', sent.outboxId ?? '') ?? 0;
    expect(await strict.world.store.write(releaseWaiting, { id })).toEqual({ kind: 'released' });
    expect((await strict.status(sent.id)).status).toBe('scheduled');
    expect(await strict.send(queried)).toMatchObject({ status: 'queued', reasons: [], duplicateOf: sent.id });
  });
});

describe('limits', () => {
  const live = { mailboxDaily: 3, mailboxNewRecipients: 2, organizationDaily: 5, keyPerSecond: 2 };
  const limited = () =>
    SendWorld.open({
      settings: { ...box.world.settings, ...live, live: true },
    });

  test('report name, amount and retry time; refused messages do not count; keys are independent', async () => {
    await using one = await limited();
    const tries = [];
    for (let i = 0; i < 11; i++) tries.push(await one.try({}, undefined, { organization: 1, credential: 'key_1' }));
    expect(tries.filter((answer) => 'id' in answer)).toHaveLength(5);
    expect(tries.at(-1)).toMatchObject({ error: 'rate_limited', limit: 'messages', most: 5 });
    const day = (tries.at(-1) as unknown as { retryAfterSeconds: number }).retryAfterSeconds;
    one.made.store.clock.now += day * 1000;
    const burst = [];
    for (let i = 0; i < 5; i++) burst.push(await one.send());
    expect(burst).toHaveLength(5);
  });

  test('on the rate of one key', async () => {
    await using one = await SendWorld.open({
      settings: { ...box.world.settings, ...live, live: true, organizationDaily: 0 },
    });
    const tries = [];
    for (let i = 0; i < 11; i++) tries.push(await one.try());
    expect(tries.filter((answer) => 'id' in answer)).toHaveLength(10);
    expect(tries.at(-1)).toMatchObject({ error: 'rate_limited', limit: 'rate', most: 2, retryAfterSeconds: 1 });
    expect(await one.try({}, undefined, { credential: 'key_2' })).toHaveProperty('id');
    one.made.store.clock.now += 500;
    expect(await one.try()).toHaveProperty('id');
    expect(await one.try()).toMatchObject({ error: 'rate_limited' });
  });

  test('on a mailbox and on its new recipients', async () => {
    await using one = await limited();
    const as = { account: await one.account('me@a.test') };
    const from = 'me@a.test';
    expect(await one.try({ from, to: ['1@x.example', '2@x.example'] }, undefined, as)).toHaveProperty('id');
    expect(await one.try({ from, to: '3@x.example' }, undefined, as)).toMatchObject({
      limit: 'new-recipients',
      most: 2,
    });
    expect(await one.try({ from, to: '1@x.example' }, undefined, as)).toHaveProperty('id');
    expect(await one.try({ from, to: '1@x.example' }, undefined, as)).toMatchObject({ limit: 'messages', most: 3 });
    expect(await one.try({ from: 'you@a.test' }, undefined, as)).toMatchObject({ error: 'from_domain_not_allowed' });
  });
});

test('a copy goes into the Sent mailbox of the author, and a scheduled one only when it leaves', async () => {
  await box.send({ from: 'me@a.test', saveToSent: true });
  expect(await count()).toMatchObject({ email: 1, queue: 1, blob: 1 });
  await box.send({ from: 'me@a.test', saveToSent: true, sendAt: new Date(box.world.clock() + 60_000).toISOString() });
  expect(await count()).toMatchObject({ email: 1 });
  await box.send({ from: 'nobody-there@a.test', saveToSent: true });
  expect(await count()).toMatchObject({ email: 1 });
});

test('a long message is composed in another thread, also when it is not sent', async () => {
  const read = vi.spyOn(box.world.texts, 'read');
  const tasks = (): string[] => read.mock.calls.splice(0).map(([name]) => name);
  await box.send({ text: 'short' });
  expect(tasks()).toEqual([]);
  await box.send({ text: '\u2039'.repeat(300_000), dryRun: true });
  await box.send({ text: undefined, html: 'long '.repeat(100_000) });
  expect(tasks()).toEqual(['compose', 'compose']);
});
