import { expect, test } from 'vitest';
import { indexMessage } from '../../mail/message/indexer.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { changeEmails, MAX_EMAILS } from '../../mail/store/message/email-change-commands.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { appendMessage } from '../../mail/store/mailbox/entry-commands.ts';
import { SEEN } from '../../mail/store/mailbox/flags.ts';
import { testAccount, testStore } from '../support/store.ts';

interface Counted {
  rows: number;
  kind: string;
}

/** Changes emails, and counts the rows that were read of what is shown of their threads. */
const changeCounted = command(
  'test-change-counted',
  async (tx, input: Parameters<typeof changeEmails.run>[1], stamp): Promise<Counted> => {
    let rows = 0;
    const counting = new Proxy(tx, {
      get(target, name) {
        const own: unknown = Reflect.get(target, name, target);
        if (typeof own !== 'function') return own;
        return async (...given: unknown[]) => {
          const found: unknown = await Reflect.apply(own, target, given);
          if (Array.isArray(found) && String(given[0]).includes('AS trash')) rows += found.length;
          return found;
        };
      },
    });
    const { kind } = await changeEmails.run(counting, input, stamp);
    return { kind, rows };
  },
);

const emailsOf = query('test-emails-of', (rx, account: number) =>
  rx.all<{ id: number; thread: number; modseq: number }>(
    'SELECT id, thread_id AS thread, modseq FROM email WHERE account_id = ? ORDER BY id',
    account,
  ),
);
const counters = query('test-counters', (rx, mailbox: number) =>
  rx.get<Record<string, number>>(
    'SELECT j_total, j_unread, threads, threads_unread FROM mailbox WHERE id = ?',
    mailbox,
  ),
);

test('keywords of many emails of one long thread are settled once', async () => {
  await using box = await testStore({ ...mailParts(), commands: [...mailParts().commands, changeCounted] });
  const { account, inbox } = await testAccount(box.store);
  const LONG = 200;
  for (let n = 0; n < LONG; n++) {
    const data = Buffer.from(`Message-ID: <${n}@x>\r\nReferences: <0@x>\r\nSubject: Long\r\n\r\n`);
    const index = indexMessage(data);
    const where = { account, mailbox: inbox, flags: { bits: 0, keywords: [] }, receivedAt: n, file: null };
    await box.store.write(appendMessage, { ...where, data, index });
  }
  const emails = await box.store.read(emailsOf, account);
  expect(new Set(emails.map((one) => one.thread)).size).toBe(1);
  const before = Math.max(...emails.map((one) => one.modseq));
  const add = { kind: 'patch', add: { bits: SEEN, keywords: ['done'] }, remove: { bits: 0, keywords: [] } } as const;
  const changes = emails.slice(0, MAX_EMAILS).map(({ id: email }) => ({ email, keywords: add, mailboxes: null }));
  const { kind, rows } = await box.store.write(changeCounted, { account, changes, ifState: null });
  expect(kind).toBe('done');
  expect(rows).toBe(2 * LONG);
  expect(await box.store.read(counters, inbox)).toEqual({
    j_total: LONG,
    j_unread: LONG - MAX_EMAILS,
    threads: 1,
    threads_unread: 1,
  });
  const moved = (await box.store.read(emailsOf, account)).filter((one) => one.modseq > before);
  expect(moved.map((one) => one.id)).toEqual(changes.map((one) => one.email));
});

test('threads are found by all 64 bits of a hash, and by the last known one of several', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const data = Uint8Array.from(Buffer.from('Subject: one\r\n\r\ntext\r\n'));
  const append = async (...refs: bigint[]): Promise<void> => {
    const index = { ...indexMessage(data), refs };
    const flags = { bits: 0, keywords: [] };
    const input = { account, mailbox: inbox, flags, receivedAt: box.clock.now, data, file: null, index };
    expect(await box.store.write(appendMessage, input)).toMatchObject({ kind: 'appended' });
  };
  const [least, most, odd] = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 60n + 1n];
  await append(least);
  await append(most);
  // One bit away, which a number of 53 bits does not show.
  await append(odd);
  await append(odd - 1n);
  await append(7n, least);
  await append(8n, odd, most);
  await append(8n, 8n, 0n);
  const threads = (await box.store.read(emailsOf, account)).map(({ thread }) => thread);
  const [first, second] = threads;
  expect(new Set(threads.slice(0, 4)).size).toBe(4);
  expect(threads.slice(4)).toEqual([first, second, second]);
});
