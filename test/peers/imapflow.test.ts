import { once } from 'node:events';
import type { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { allowed, roundsUntil } from '../support/held-sockets.ts';
import { Wire } from '../support/wire.ts';
import { flow } from './flow.ts';

let box: Box;
beforeAll(async () => {
  box = await startBox();
});
afterAll(() => box[Symbol.asyncDispose]());

/** Sends one message to the mailbox over SMTP and answers when the 250 was there, on the clock of `performance`. */
async function deliver(subject: string): Promise<number> {
  using wire = await Wire.open(box.port('smtp'));
  await wire.reply();
  await wire.command('EHLO client.example');
  await wire.command('MAIL FROM:<ann@example.org>');
  await wire.command(`RCPT TO:<${box.address}>`);
  await wire.command('DATA');
  const reply = await wire.command(`From: Ann <ann@example.org>\r\nSubject: ${subject}\r\n\r\nHi\r\n.`);
  expect(reply).toMatch(/^250 /);
  return performance.now();
}

const byPath = ([a = '']: (string | undefined)[], [b = '']: (string | undefined)[]): number => (a < b ? -1 : 1);

test('every folder has its special use, and what is made has none', async () => {
  await using client = await flow(box);
  await client.mailboxCreate(['Projekte', 'Grüße & mehr']);
  const folders = await client.list({ statusQuery: { messages: true, uidNext: true, unseen: true } });
  expect(folders.map(({ path, specialUse }) => [path, specialUse]).sort(byPath)).toEqual([
    ['Archive', '\\Archive'],
    ['Drafts', '\\Drafts'],
    ['INBOX', '\\Inbox'],
    ['Junk', '\\Junk'],
    ['Projekte', undefined],
    ['Projekte/Grüße & mehr', undefined],
    ['Sent', '\\Sent'],
    ['Trash', '\\Trash'],
  ]);
  await client.mailboxRename('Projekte', 'Arbeit');
  await client.mailboxDelete('Arbeit/Grüße & mehr');
  expect((await client.list()).map(({ path }) => path)).not.toContain('Arbeit/Grüße & mehr');
});

test('who idles is informed of each new message in under a second', async () => {
  await using client = await flow(box);
  await client.mailboxOpen('INBOX');
  let number = 0;
  const longest = async (): Promise<{ told: number; ordinary: number }> => {
    let [told, ordinary] = [0, 0];
    for (let n = 0; n < 5; n += 1) {
      told = Math.max(told, await reportedOf(client, (number += 1)));
      const queried = performance.now();
      await client.noop();
      ordinary = Math.max(ordinary, performance.now() - queried);
    }
    return { told, ordinary };
  };
  // Beside other work an ordinary answer is late too, and a notification as much.
  const inTime = ({ told, ordinary }: { told: number; ordinary: number }): boolean => told < allowed(1_000, ordinary);
  expect(await roundsUntil(longest, inTime)).toSatisfy(inTime);
});

/** Delivers the message that becomes number `number` of the mailbox while the client idles; ms until it is notified. */
async function reportedOf(client: ImapFlow, number: number): Promise<number> {
  const idling = client.idle();
  await new Promise((resolve) => setTimeout(resolve, 100)); // for IDLE to start: no event reports it
  const told = once(client, 'exists').then(([event]) => ({
    at: performance.now(),
    count: (event as { count: number }).count,
  }));
  const accepted = await deliver(`idle ${number}`);
  const { at, count } = await told;
  expect(count).toBe(number);
  await client.noop();
  await idling;
  return at - accepted;
}

test('fetches, searches, flags, copies, moves, appends and deletes', async () => {
  await using client = await flow(box);
  const { exists } = await client.mailboxOpen('INBOX');
  await deliver('third of them');
  await client.noop();
  expect(await client.search({ subject: 'third' })).toEqual([exists + 1]);
  expect(await client.search({ from: 'ann@example.org', body: 'Hi', seen: false }, { uid: true })).toHaveLength(
    exists + 1,
  );
  expect(await client.search({ before: new Date(Date.now() - 3 * 86_400_000) })).toEqual([]);

  const last = String(exists + 1);
  const message = await client.fetchOne(last, {
    envelope: true,
    bodyStructure: true,
    source: true,
    size: true,
    uid: true,
  });
  if (!message) throw new Error('nothing fetched');
  expect(message.source?.length).toBe(message.size);
  expect(message.envelope).toMatchObject({
    subject: 'third of them',
    from: [{ name: 'Ann', address: 'ann@example.org' }],
  });
  expect(message.bodyStructure).toMatchObject({ type: 'text/plain', size: 4 });
  const part = await client.fetchOne(last, { source: { start: 10, maxLength: 20 }, headers: ['subject'] });
  expect(part && part.source?.equals(message.source?.subarray(10, 30) ?? Buffer.alloc(0))).toBe(true);
  expect(part && part.headers?.toString()).toBe('Subject: third of them\r\n\r\n');

  await client.messageFlagsSet(last, ['\\Seen', '$Forwarded', 'own']);
  const flagged = await client.fetchOne(last, { flags: true });
  expect([...((flagged && flagged.flags) || [])].sort()).toEqual(['$Forwarded', '\\Seen', 'own']);
  expect(await client.search({ keyword: 'own' })).toEqual([exists + 1]);

  const copied = await client.messageCopy(last, 'Archive');
  expect(copied && copied.uidMap?.size).toBe(1);
  const moved = await client.messageMove(last, 'Trash');
  expect(moved && moved.uidMap?.get(message.uid)).toBe(1);
  expect(client.mailbox && client.mailbox.exists).toBe(exists);
  const appended = await client.append(
    'Drafts',
    'Subject: draft\r\n\r\n',
    ['\\Draft'],
    new Date('2026-01-02T03:04:05Z'),
  );
  await client.mailboxOpen('Drafts');
  const draft = await client.fetchOne(
    String((appended && appended.uid) || 0),
    { internalDate: true, flags: true },
    { uid: true },
  );
  expect(draft && draft.internalDate).toEqual(new Date('2026-01-02T03:04:05Z'));
  expect([...((draft && draft.flags) || [])]).toContain('\\Draft');
  expect(await client.messageDelete('1:*')).toBe(true);
  expect(await client.status('Drafts', { messages: true })).toMatchObject({ messages: 0 });
});

test('two clients see what the other does', async () => {
  await deliver('for both');
  await using first = await flow(box);
  await using second = await flow(box);
  await first.mailboxOpen('INBOX');
  await second.mailboxOpen('INBOX');
  const flagged = once(second, 'flags');
  const idling = second.idle();
  await first.messageFlagsAdd('1', ['\\Flagged']);
  const [event] = (await flagged) as [{ seq: number; flags: Set<string> }];
  expect([event.seq, event.flags.has('\\Flagged')]).toEqual([1, true]);
  const gone = once(second, 'expunge');
  await first.messageDelete('1');
  expect(((await gone) as [{ seq: number }])[0].seq).toBe(1);
  await second.noop();
  await idling;
});
