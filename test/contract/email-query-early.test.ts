import { expect, test } from 'vitest';
import { jmapId } from '../../mail/jmap/core/ids.ts';
import { upload } from '../support/jmap-emails.ts';
import { createJmapFixture } from '../support/jmap-fixture.ts';

test('an email that was received before 1970 is in the results of queries', async () => {
  await using world = await createJmapFixture();
  const inbox = jmapId('mailbox', world.inbox);
  const blobId = await upload(world, 'Subject: old\r\n\r\nwords\r\n', 'message/rfc822');
  const one = { blobId, mailboxIds: { [inbox]: true } };
  const emails = { old: { ...one, receivedAt: '1969-07-20T20:17:40Z' }, new: one };
  const { created } = (await world.call('Email/import', { emails })) as { created: Record<string, { id: string }> };
  const [old, young] = [created['old']?.id, created['new']?.id];
  const order = [{ property: 'receivedAt', isAscending: true }];
  const ids = async (args: object): Promise<unknown> => (await world.call('Email/query', { ...args }))['ids'];
  expect(await ids({})).toEqual([young, old]);
  expect(await ids({ sort: order, filter: { inMailbox: inbox } })).toEqual([old, young]);
  expect(await ids({ sort: [{ property: 'size' }] })).toEqual([old, young]);
  expect(await ids({ filter: { before: '1970-01-01T00:00:00Z' } })).toEqual([old]);
  expect(await ids({ filter: { after: '1960-01-01T00:00:00Z' } })).toEqual([young, old]);
});
