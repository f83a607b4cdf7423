import { expect, test } from 'vitest';
import { CORE, MAIL } from '../../../mail/jmap/core/capabilities.ts';
import { readRequest } from '../../../mail/jmap/core/request.ts';
import { runRequest } from '../../../mail/jmap/core/request-runner.ts';
import { createJmapFixture } from '../../support/jmap-fixture.ts';

test('reads are not run for a client that is gone, changes are', async () => {
  await using fixture = await createJmapFixture();
  const { accountId, context, session } = fixture;
  const using = [CORE, MAIL];
  const methodCalls = [
    ['Mailbox/get', { accountId, ids: null }, '0'],
    ['Mailbox/set', { accountId, create: { k: { name: 'Kept' } } }, '1'],
    ['Email/query', { accountId }, '2'],
  ];
  const read = readRequest({ using, methodCalls }, new Set(using), context.limits);
  const gone = await runRequest(context, session, read, undefined, () => true);
  expect(gone.methodResponses.map(([name, , id]) => [name, id])).toEqual([['Mailbox/set', '1']]);
  const there = await runRequest(context, session, read, undefined, () => false);
  expect(there.methodResponses.map(([name, , id]) => [name, id])).toEqual([
    ['Mailbox/get', '0'],
    ['Mailbox/set', '1'],
    ['Email/query', '2'],
  ]);
});

test('a read that a change refers to is run, also for a client that is gone', async () => {
  await using fixture = await createJmapFixture();
  const { accountId, context, session } = fixture;
  const using = [CORE, MAIL];
  const methodCalls = [
    ['Mailbox/query', { accountId, filter: { role: 'archive' } }, 'q'],
    ['Mailbox/set', { accountId, '#destroy': { resultOf: 'q', name: 'Mailbox/query', path: '/ids' } }, 's'],
  ];
  const read = readRequest({ using, methodCalls }, new Set(using), context.limits);
  const gone = await runRequest(context, session, read, undefined, () => true);
  expect(gone.methodResponses.map(([name, , id]) => [name, id])).toEqual([
    ['Mailbox/query', 'q'],
    ['Mailbox/set', 's'],
  ]);
});
