import { afterEach, beforeEach, expect, test } from 'vitest';
import { command } from '../../../mail/store/engine/types.ts';
import { suppress, type SuppressionReason } from '../../../mail/store/queue/suppression.ts';
import { addUnsubscription } from '../../../mail/store/notification/unsubscription.ts';
import { operatorCaller } from '../../../src/core/caller.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { perform } from '../../../src/operations/perform.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';

const put = command(
  'test-suppress',
  (tx, input: { tenant: number; key: string; reason: SuppressionReason; source: string }, stamp) => {
    const { reason, ...who } = { ...input, trace: 'message' };
    if (reason === 'unsubscribe') return addUnsubscription(tx, who, stamp);
    return suppress(tx, { ...who, reason, said: 'words' }, stamp);
  },
);

let box: TestWorld;
beforeEach(async () => {
  box = await testWorld({}, [put]);
});
afterEach(() => box[Symbol.asyncDispose]());

async function call(name: string, args: object = {}) {
  const done = await perform(box.world, findOperation(name) ?? expect.fail(name), operatorCaller(), args);
  return done.kind === 'done' ? done.result : expect.fail(JSON.stringify(done.refusal));
}
const add = (reason: SuppressionReason, source: string, key: string = reason) =>
  box.world.store.write(put, { tenant: 1, key: `${key}@x.example`, reason, source });
const list = async (args: object = {}) =>
  (await call('list_suppressions', args))['suppressions'] as Record<string, unknown>[];

test('each says in a sentence how it came to be', async () => {
  await add('hard_bounce', 'reply');
  await add('hard_bounce', 'report', 'later');
  await add('complaint', 'report');
  await add('unsubscribe', 'link');
  await call('add_suppression', { address: 'By.Hand@x.example' });
  expect((await list()).map(({ address, source }) => `${String(address)}: ${String(source)}`)).toEqual([
    'by.hand@x.example: Added by operator.',
    'complaint@x.example: The recipient reported a message as spam to their provider (feedback loop).',
    'hard_bounce@x.example: The server of x.example replied that the address does not exist.',
    'later@x.example: The message was accepted first, and then a bounce reported that the address does not exist.',
    'unsubscribe@x.example: The recipient used the unsubscribe link of a message.',
  ]);
  expect((await list()).map(({ messageId, untrusted }) => [messageId, untrusted])).toEqual([
    [null, { said: '' }],
    ...Array.from({ length: 3 }, () => ['message', { said: 'words' }]),
    ['message', { said: '' }],
  ]);
});

test('a wish goes before what a server said, and not the other way round', async () => {
  await add('hard_bounce', 'reply', 'a');
  await add('unsubscribe', 'link', 'a');
  await add('hard_bounce', 'reply', 'a');
  await add('complaint', 'report', 'a');
  expect(await list()).toMatchObject([{ address: 'a@x.example', reason: 'unsubscribe' }]);
});

test('a complaint goes before what the owner wrote down, so that who lifts it knows', async () => {
  await call('add_suppression', { address: 'a@x.example' });
  await add('complaint', 'report', 'a');
  await call('add_suppression', { address: 'a@x.example' });
  expect(await list()).toMatchObject([{ address: 'a@x.example', reason: 'complaint' }]);
});

test('both lists are one, page after page', async () => {
  for (const n of [1, 3, 5]) await add('hard_bounce', 'reply', `u${n}`);
  for (const n of [2, 3, 4]) await add('unsubscribe', 'link', `u${n}`);
  const seen: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await call('list_suppressions', { limit: 2, ...(cursor != null && { cursor }) });
    seen.push(
      ...(page['suppressions'] as { address: string; reason: string }[]).map((one) => `${one.address} ${one.reason}`),
    );
    cursor = page['nextCursor'] as string | null;
  } while (cursor !== null);
  expect(seen).toEqual([
    'u1@x.example hard_bounce',
    'u2@x.example unsubscribe',
    'u3@x.example unsubscribe',
    'u4@x.example unsubscribe',
    'u5@x.example hard_bounce',
  ]);
});

test('one address, or one reason, is found without the others', async () => {
  for (const n of [1, 3, 5]) await add('hard_bounce', 'reply', `u${n}`);
  for (const n of [2, 3]) await add('unsubscribe', 'link', `u${n}`);
  await add('complaint', 'report', 'u4');
  const named = async (args: object) => (await list(args)).map(({ address }) => String(address).slice(0, 2));
  expect(await named({ address: 'U3@x.example' })).toEqual(['u3']);
  expect(await named({ address: 'u9@x.example' })).toEqual([]);
  expect(await named({ address: 'u3@x.example', reason: 'hard_bounce' })).toEqual([]);
  expect(await named({ reason: 'unsubscribe' })).toEqual(['u2', 'u3']);
  expect(await named({ reason: 'complaint' })).toEqual(['u4']);
  expect(await named({ reason: 'hard_bounce' })).toEqual(['u1', 'u5']);
  const page = await call('list_suppressions', { reason: 'hard_bounce', limit: 1 });
  expect(await named({ reason: 'hard_bounce', limit: 1, cursor: page['nextCursor'] })).toEqual(['u5']);
});

test('what is removed is gone, and the log says who did it', async () => {
  await add('complaint', 'report');
  expect(await call('remove_suppression', { address: 'Complaint@x.example' })).toEqual({ removed: true });
  expect(await call('remove_suppression', { address: 'complaint@x.example' })).toEqual({ removed: false });
  expect(await list()).toEqual([]);
  const { events } = (await call('list_audit_events')) as { events: { operation: string; target: string }[] };
  expect(events.filter((row) => row.operation === 'remove_suppression')).toHaveLength(2);
});
