import { expect, test } from 'vitest';
import { indexMessage } from '../../mail/message/indexer.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { appendMessage, copyEntries, expunge, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { DELETED, SEEN } from '../../mail/store/mailbox/flags.ts';
import { createMailbox, findMailbox, removeMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { changeMailbox } from '../../mail/store/mailbox/mailbox-tree.ts';
import { countThreads } from '../../mail/store/message/thread-counts.ts';
import { LONG_THREAD } from '../../mail/store/message/thread-total.ts';
import { Random } from '../support/random.ts';
import { testAccount, type TestStore, testStore } from '../support/store.ts';

interface Work {
  statements: number;
  rows: number;
}

/** Appends a message, and counts the statements that were run and the rows that they returned. */
const appendCounted = command(
  'test-append-counted',
  async (tx, input: Parameters<typeof appendMessage.run>[1], stamp): Promise<Work> => {
    const work = { statements: 0, rows: 0 };
    const counting = new Proxy(tx, {
      get(target, name) {
        const own: unknown = Reflect.get(target, name, target);
        if (typeof own !== 'function') return own;
        return async (...given: unknown[]) => {
          const found: unknown = await Reflect.apply(own, target, given);
          if (!['get', 'all', 'run', 'send'].includes(String(name))) return found;
          work.statements++;
          if (Array.isArray(found)) work.rows += found.length;
          return found;
        };
      },
    });
    await appendMessage.run(counting, input, stamp);
    return work;
  },
);

const threadsOf = query('test-threads-of', (rx, account: number) =>
  rx.all<{ thread: number; emails: number }>(
    'SELECT thread_id AS thread, count(*) AS emails FROM email WHERE account_id = ? GROUP BY thread_id ORDER BY 1',
    account,
  ),
);
/** JMAP's counters of the mailboxes, as stored, and counted from the entries. */
const storedCounts = query('test-stored-counts', (rx, account: number) =>
  rx.all<{ id: number; j_total: number; j_unread: number; threads: number | null; threads_unread: number | null }>(
    `SELECT id, j_total, j_unread, threads, threads_unread FROM mailbox WHERE account_id = ? AND deleted_at IS NULL ORDER BY id`,
    account,
  ),
);
const countedEmails = query('test-counted-emails', (rx, account: number) =>
  rx.all<{ id: number; j_total: number; j_unread: number }>(
    `SELECT m.id, count(n.uid) AS j_total, coalesce(sum(iif(n.flags & 9 = 0, 1, 0)), 0) AS j_unread
     FROM mailbox m LEFT JOIN entry n ON n.mailbox_id = m.id AND n.flags & 16 = 0
     WHERE m.account_id = ? AND m.deleted_at IS NULL GROUP BY m.id ORDER BY m.id`,
    account,
  ),
);
const storedTotals = query('test-stored-totals', (rx) =>
  rx.all<{ thread_id: number; mailbox_id: number; shown: number; unread: number }>(
    'SELECT thread_id, mailbox_id, shown, unread FROM thread_total ORDER BY thread_id, mailbox_id',
  ),
);
const countedTotals = query('test-counted-totals', (rx, threads: readonly number[]) =>
  rx.all<{ thread_id: number; mailbox_id: number; shown: number; unread: number }>(
    `SELECT n.thread_id, n.mailbox_id, count(*) AS shown, sum(iif(n.flags & 9 = 0, 1, 0)) AS unread
     FROM entry n JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.flags & 16 = 0 AND m.deleted_at IS NULL AND n.thread_id IN (SELECT value FROM json_each(?))
     GROUP BY n.thread_id, n.mailbox_id ORDER BY n.thread_id, n.mailbox_id`,
    JSON.stringify(threads),
  ),
);
const uidsOf = query('test-uids-of', async (rx, mailbox: number) => {
  const rows = await rx.all<{ uid: number }>('SELECT uid FROM entry WHERE mailbox_id = ? ORDER BY uid', mailbox);
  return rows.map(({ uid }) => uid);
});

/** The nth message of a conversation. */
function reply(n: number, conversation = 'a'): { data: Uint8Array; index: ReturnType<typeof indexMessage> } {
  const refs = n === 0 ? '' : `References: <${n - 1}.${conversation}@x>\r\n`;
  const data = Buffer.from(
    `Message-ID: <${n}.${conversation}@x>\r\n${refs}Subject: Long ${conversation}\r\n\r\ntext\r\n`,
  );
  return { data, index: indexMessage(data) };
}

const store = (): Promise<TestStore> =>
  testStore({ ...mailParts(), commands: [...mailParts().commands, appendCounted] });

test.each([
  ['unread', 0],
  ['read', SEEN],
])('a message costs the same whether it joins 10 or 5,000 others that are %s', async (_what, bits) => {
  await using box = await store();
  const { account, inbox } = await testAccount(box.store);
  const sent = (await box.store.read(findMailbox, { account, name: 'Sent' }))?.id ?? 0;
  const where = { account, mailbox: inbox, receivedAt: 1, file: null };
  const flags = { bits, keywords: [] };
  const costs: Work[] = [];
  let n = 0;
  // A full thread is followed by another one: the conversation of 5,000 has ten of them.
  for (const length of [10, 40, 480, 4_990]) {
    const more = Array.from({ length: length - n }, () => reply(n++));
    await Promise.all(more.map((one) => box.store.write(appendMessage, { ...where, ...one, flags })));
    // The first one stores the totals of the thread, for those that follow.
    for (const [mailbox, seen] of [
      [inbox, bits],
      [inbox, bits],
      [sent, SEEN],
      [inbox, 0],
    ] as const) {
      const input = { ...where, ...reply(n++), mailbox, flags: { bits: seen, keywords: [] } };
      costs.push(await box.store.write(appendCounted, input));
    }
  }
  const at = (index: number): Work[] => costs.slice(4 * index + 1, 4 * index + 4);
  expect((await box.store.read(threadsOf, account)).map(({ emails }) => emails)).toEqual([
    ...Array.from({ length: 9 }, () => 500),
    expect.any(Number),
  ]);
  const statements = (works: readonly Work[]): number => works.reduce((sum, work) => sum + work.statements, 0);
  const rows = (works: readonly Work[]): number => works.reduce((sum, work) => sum + work.rows, 0);
  // A short thread is read whole: 10 to 14 rows for each of the three.
  expect(rows(at(0))).toBeGreaterThan(30);
  for (const length of [1, 2, 3]) {
    expect(statements(at(length))).toBeLessThanOrEqual(statements(at(0)) + 3);
    expect(rows(at(length))).toBeLessThan(rows(at(0)));
  }
  expect(await box.store.read(storedTotals, undefined)).toEqual(
    await box.store.read(
      countedTotals,
      (await box.store.read(threadsOf, account)).map(({ thread }) => thread),
    ),
  );
});

test.each([1, 2, 3])('counters of long threads are those of their entries after any changes (%i)', async (seed) => {
  await using box = await store();
  const { account, inbox } = await testAccount(box.store);
  const random = new Random(seed);
  const named = async (name: string): Promise<number> =>
    (await box.store.read(findMailbox, { account, name }))?.id ?? 0;
  const [sent, trash] = [await named('Sent'), await named('Trash')];
  const next = [0, 0];
  const append = async (mailbox: number, bits: number): Promise<void> => {
    const which = random.below(2);
    const flags = { bits, keywords: [] };
    const n = next[which] ?? 0;
    next[which] = n + 1;
    const input = { account, mailbox, receivedAt: n, file: null, flags, ...reply(n, `c${which}`) };
    expect(await box.store.write(appendMessage, input)).toMatchObject({ kind: 'appended' });
  };
  for (let n = 0; n < 3 * LONG_THREAD; n++) await append(inbox, SEEN);
  let stored = 0;
  for (let step = 0; step < 250; step++) {
    if ((await named('Work')) === 0) await box.store.write(createMailbox, { account, name: 'Work', role: null });
    const boxes = [inbox, sent, trash, await named('Work')];
    const mailbox = random.one(boxes);
    const to = random.one(boxes);
    const all = await box.store.read(uidsOf, mailbox);
    const uids = random.some(all, Math.min(0.25, 8 / Math.max(1, all.length)));
    const bits = random.one([0, SEEN, SEEN, DELETED]);
    const kind = random.below(12);
    if (kind < 6) await append(mailbox, bits);
    else if (kind < 8) {
      const how = random.chance(0.5) ? 'add' : 'remove';
      const flags = { bits, keywords: [] };
      await box.store.write(storeFlags, { account, mailbox, uids, how, flags, unchangedSince: null });
    } else if (kind < 10 && mailbox !== to) {
      await box.store.write(copyEntries, { account, mailbox, uids, to, move: kind === 8 });
    } else if (kind === 10) await box.store.write(expunge, { account, mailbox, uids });
    else if (step % 3 === 0) await box.store.write(removeMailbox, { account, name: 'Work' });
    const { counts } = await box.store.read(countThreads, { account });
    const emails = await box.store.read(countedEmails, account);
    const expected = emails.map((row) => {
      const { threads = 0, unread = 0 } = counts.find(({ id }) => id === row.id) ?? {};
      return { ...row, threads, threads_unread: unread };
    });
    expect(await box.store.read(storedCounts, account)).toEqual(expected);
    const totals = await box.store.read(storedTotals, undefined);
    const threads = [...new Set(totals.map((row) => row.thread_id))];
    expect(totals).toEqual(await box.store.read(countedTotals, threads));
    stored += Number(totals.length > 0);
  }
  // The totals were there in many of the steps.
  expect(stored).toBeGreaterThan(50);
});

test('another trash deletes the totals of all threads of the account', async () => {
  await using box = await store();
  const { account, inbox } = await testAccount(box.store);
  const trash = (await box.store.read(findMailbox, { account, name: 'Trash' }))?.id ?? 0;
  const flags = { bits: SEEN, keywords: [] };
  for (let n = 0; n < LONG_THREAD; n++) {
    const mailbox = n % 2 === 0 ? inbox : trash;
    await box.store.write(appendMessage, { account, mailbox, receivedAt: n, file: null, flags, ...reply(n) });
  }
  expect(await box.store.read(storedTotals, undefined)).toHaveLength(2);
  const facts = { parent: 0, name: 'Trash', role: null, sortOrder: 0, subscribed: true };
  await box.store.write(changeMailbox, { account, id: trash, facts, ifState: null });
  expect(await box.store.read(storedTotals, undefined)).toEqual([]);
});
