import { describe, expect, test } from 'vitest';
import { type AcceptedMessage, deliver, deliveryTrace } from '../../mail/delivery/deliver.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { messageRows } from '../../mail/store/blob/content.ts';
import { command, lookup, query } from '../../mail/store/engine/types.ts';
import { appendMessage, copyEntries, expunge, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import {
  findMailbox,
  listMailboxes,
  removeMailbox,
  renameMailbox,
  subscribeMailbox,
  createMailbox,
} from '../../mail/store/mailbox/mailbox.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { purgeExpunged } from '../../mail/store/retention/purge.ts';
import { type StatementCounts, probeStatements } from '../support/statement-probe.ts';
import { engines, testAccount, testStore } from '../support/store.ts';
import { onPostgres } from '../support/test-database.ts';

const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));
const text = (n: number): string =>
  `Message-ID: <${n}@a.example>\r\nFrom: a@a.example\r\nSubject: number ${n}\r\n\r\nbody ${n}\r\n`;

function accepted(account: number, n: number): AcceptedMessage {
  const data = bytesOf(text(n));
  return {
    trace: `trace-${n}`,
    sender: 'a@a.example',
    deliveries: [{ account, to: 'me@box.test', trace: deliveryTrace('a@a.example', 'me@box.test') }],
    data,
    file: null,
    index: indexMessage(data),
    onward: [],
    eightBit: false,
    hold: null,
    from: { ip: '127.0.0.1', helo: 'a.example' },
  };
}

function toAll(accounts: readonly { account: number }[], n: number): AcceptedMessage {
  const one = accepted(0, n);
  return { ...one, deliveries: accounts.flatMap(({ account }) => accepted(account, n).deliveries) };
}

async function wholeMessage(store: MailStore, account: number, mailbox: number, uid: number): Promise<string> {
  const [row] = await store.read(messageRows, { account, mailbox, uids: [uid], structure: true });
  if (row === undefined) throw new Error('no such message');
  return row.content.trace + (await store.blob(row.content.blob, 0, row.content.length)).toString('latin1');
}

describe.each(Object.keys(engines) as (keyof typeof engines)[])('the store on the %s', (engine) => {
  test('a delivered message is there with its trace, octet for octet, also after opening again', async () => {
    await using box = await testStore(engine);
    const { account, inbox } = await testAccount(box.store);
    await box.store.write(deliver, accepted(account, 1));
    expect(await wholeMessage(box.store, account, inbox, 1)).toBe(
      `Return-Path: <a@a.example>\r\nDelivered-To: me@box.test\r\n${text(1)}`,
    );
    const store = await box.reopen();
    expect(await wholeMessage(store, account, inbox, 1)).toContain('body 1');
    const info = await store.read(findMailbox, { account, name: 'INBOX' });
    expect(info).toMatchObject({ total: 1, unseen: 1, uidNext: 2, role: 'inbox' });
  });

  test('views are ahead of the promise of the command that changed them', async () => {
    await using box = await testStore(engine);
    const { account, inbox } = await testAccount(box.store);
    const view = await box.store.view(account, inbox);
    let told = 0;
    view.onChange(() => told++);
    await Promise.all([1, 2, 3].map((n) => box.store.write(deliver, accepted(account, n))));
    expect([...view.uids.subarray(0, view.length)]).toEqual([1, 2, 3]);
    expect(told).toBeGreaterThan(0);

    const before = view.uids;
    const since = view.highestModseq;
    const input = { account, mailbox: inbox, how: 'add', unchangedSince: null } as const;
    await box.store.write(storeFlags, { ...input, uids: [2], flags: { bits: 1 | 16, keywords: ['$Label1'] } });
    expect(view.flagNames(2)).toEqual(['\\Seen', '\\Deleted', '$Label1']);
    expect(view.changesSince(since)).toMatchObject([{ flags: [2] }]);
    expect(view.keywords).toEqual(['$Label1']);

    await box.store.write(expunge, { account, mailbox: inbox, uids: [1, 2, 3] });
    expect([...view.uids.subarray(0, view.length)]).toEqual([1, 3]);
    expect([...before.subarray(0, 3)]).toEqual([1, 2, 3]);
    expect(await wholeMessage(box.store, account, inbox, 2)).toContain('body 2');
    view.close();
  });

  test('a view opens at any moment of a query', async () => {
    await using box = await testStore(engine);
    const { account, inbox } = await testAccount(box.store);
    await box.store.write(deliver, accepted(account, 1));
    for (let moment = 0; moment < 20; moment++) {
      const rows = box.store.read(messageRows, { account, mailbox: inbox, uids: [1], structure: true });
      for (let n = 0; n < moment; n++) await Promise.resolve();
      const view = await box.store.view(account, inbox);
      expect(view.length).toBe(1);
      view.close();
      expect(await rows).toHaveLength(1);
    }
  });

  test('a refused command leaves nothing of itself and everything of its neighbors', async () => {
    await using box = await testStore(engine);
    const { account, inbox } = await testAccount(box.store);
    const wrong = accepted(999, 2);
    const results = await Promise.allSettled([
      box.store.write(deliver, accepted(account, 1)),
      box.store.write(deliver, wrong),
      box.store.write(deliver, accepted(account, 3)),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const info = await box.store.read(findMailbox, { account, name: 'INBOX' });
    expect(info?.total).toBe(2);
    expect(info?.id).toBe(inbox);
  });

  test('deliveries of one commit keep their order in each mailbox, whatever else is in it', async () => {
    await using box = await testStore(engine);
    const accounts = [
      await testAccount(box.store),
      await testAccount(box.store, 'b'),
      await testAccount(box.store, 'c'),
    ];
    const written: Promise<unknown>[] = [];
    for (let n = 0; n < 60; n++) {
      const { account } = accounts[n % 3] as (typeof accounts)[number];
      written.push(box.store.write(deliver, accepted(account, n)));
      // One keeps to three accounts, one to none.
      if (n % 20 === 7) written.push(box.store.write(deliver, toAll(accounts, 1000 + n)));
      if (n % 20 === 13) written.push(box.store.write(createMailbox, { account, name: `folder ${n}`, role: null }));
    }
    await Promise.all(written);
    for (const [i, { account, inbox }] of accounts.entries()) {
      const own = Array.from({ length: 20 }, (_, n) => n * 3 + i);
      const sent = [...own, 1007, 1027, 1047].sort((a, b) => (a % 1000) - (b % 1000) || a - b);
      const found = await Promise.all(sent.map((_, at) => wholeMessage(box.store, account, inbox, at + 1)));
      expect(found.map((whole) => Number(/number (\d+)/.exec(whole)?.[1]))).toEqual(sent);
      const info = await box.store.read(findMailbox, { account, name: 'INBOX' });
      expect(info).toMatchObject({ total: 23, unseen: 23, uidNext: 24 });
    }
  });

  test('a command that the store does not know fails alone', async () => {
    await using box = await testStore(engine);
    const { account, inbox } = await testAccount(box.store);
    const unknown = command('test-unknown', (tx) => tx.run('SELECT 1'));
    const [known, refused] = await Promise.allSettled([
      box.store.write(deliver, accepted(account, 1)),
      box.store.write(unknown, undefined),
    ]);
    expect(known.status).toBe('fulfilled');
    expect(refused).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringContaining('test-unknown') as string },
    });
    expect(await wholeMessage(box.store, account, inbox, 1)).toContain('body 1');
  });

  test('counters, quota and copies agree with the rows', async () => {
    await using box = await testStore(engine);
    const { account, inbox } = await testAccount(box.store);
    for (const n of [1, 2, 3]) await box.store.write(deliver, accepted(account, n));
    const archive = await box.store.read(findMailbox, { account, name: 'Archive' });
    const to = archive?.id ?? 0;
    const copied = await box.store.write(copyEntries, { account, mailbox: inbox, uids: [1, 3, 77], to, move: false });
    expect(copied).toMatchObject({ kind: 'done', from: [1, 3], to: [1, 2] });
    const again = await box.store.write(copyEntries, { account, mailbox: inbox, uids: [1], to, move: true });
    expect(again).toMatchObject({ kind: 'done', from: [1], to: [3] });
    const seen = {
      account,
      mailbox: to,
      uids: [2],
      how: 'add',
      flags: { bits: 1, keywords: [] },
      unchangedSince: null,
    } as const;
    await box.store.write(storeFlags, seen);
    const boxes = new Map((await box.store.read(listMailboxes, { account })).map((info) => [info.name, info]));
    expect(boxes.get('INBOX')).toMatchObject({ total: 2, unseen: 1 });
    expect(boxes.get('Archive')).toMatchObject({ total: 3, unseen: 2, uidNext: 4 });
  });

  test('mailboxes: parents are made, children move with their parent, a deleted name is free with a new UIDVALIDITY', async () => {
    await using box = await testStore(engine);
    const { account } = await testAccount(box.store);
    expect(await box.store.write(createMailbox, { account, name: 'a/b/c', role: null })).toMatchObject({
      kind: 'created',
    });
    expect(await box.store.write(createMailbox, { account, name: 'a/b', role: null })).toEqual({ kind: 'exists' });
    expect(await box.store.write(renameMailbox, { account, from: 'a', to: 'a/x' })).toBe('inside-itself');
    expect(await box.store.write(renameMailbox, { account, from: 'a', to: 'z/y' })).toBe('renamed');
    const moved = await box.store.read(findMailbox, { account, name: 'z/y/b/c' });
    expect(moved?.name).toBe('z/y/b/c');
    expect(await box.store.write(removeMailbox, { account, name: 'z/y' })).toBe('has-children');
    expect(await box.store.write(removeMailbox, { account, name: 'z/y/b/c' })).toBe('removed');
    await box.store.write(createMailbox, { account, name: 'z/y/b/c', role: null });
    const fresh = await box.store.read(findMailbox, { account, name: 'z/y/b/c' });
    expect(fresh?.uidValidity).toBeGreaterThan(moved?.uidValidity ?? 0);
  });

  test('a mailbox is subscribed unless that was not wanted; what was subscribed before its deletion is again', async () => {
    await using box = await testStore(engine);
    const { account } = await testAccount(box.store);
    const create = (name: string, subscribed?: boolean) =>
      box.store.write(createMailbox, { account, name, role: null, ...(subscribed !== undefined && { subscribed }) });
    const isSubscribed = async (name: string) => (await box.store.read(findMailbox, { account, name }))?.subscribed;
    await create('tools/own');
    await create('imap', false);
    expect(await isSubscribed('tools/own')).toBe(true);
    expect(await isSubscribed('tools')).toBe(false);
    expect(await isSubscribed('imap')).toBe(false);
    await box.store.write(subscribeMailbox, { account, name: 'imap', on: true });
    await box.store.write(removeMailbox, { account, name: 'imap' });
    await create('imap', false);
    expect(await isSubscribed('imap')).toBe(true);
  });

  test('what was expunged is kept for a month and then goes with its blob', async () => {
    await using box = await testStore(engine);
    const { account, inbox } = await testAccount(box.store);
    const big = Buffer.from(`Subject: big\r\n\r\n${'x'.repeat(70_000)}\r\n`);
    const writer = box.store.files.create();
    await writer.write(big);
    const blob = await writer.finish();
    if (!('file' in blob)) throw new Error('a large message belongs in a file');
    await box.store.write(appendMessage, {
      account,
      mailbox: inbox,
      flags: { bits: 16, keywords: [] },
      receivedAt: 1,
      data: null,
      file: blob,
      index: indexMessage(big),
    });
    await box.store.write(expunge, { account, mailbox: inbox, uids: [1] });
    expect(await box.store.write(purgeExpunged, { before: box.clock.now })).toEqual({
      files: [],
      emails: 0,
      more: false,
    });
    expect(await wholeMessage(box.store, account, inbox, 1)).toBe(big.toString('latin1'));
    expect(await box.store.write(purgeExpunged, { before: box.clock.now + 1 })).toEqual({
      files: [blob.file],
      emails: 1,
      more: false,
    });
    await expect(wholeMessage(box.store, account, inbox, 1)).rejects.toThrow('no such message');
  });
});

describe('the rules of a command', () => {
  const parts = engines['calling thread'];

  test.each([
    ['awaits something else', async () => void (await new Promise((resolve) => setTimeout(resolve, 1000)))],
    [
      'swallows the error of a statement',
      async (tx: { run(sql: string): Promise<unknown> }) => {
        await tx.run('INSERT INTO setting VALUES (NULL, NULL)').catch(() => undefined);
      },
    ],
  ])('one that %s is refused and leaves nothing', async (_, body) => {
    const bad = command<null, void>('bad', async (tx) => {
      await tx.run("INSERT INTO setting VALUES ('half', x'00')");
      await body(tx);
    });
    const count = command<null, number>('count', async (tx) => (await tx.all('SELECT 1 FROM setting')).length);
    const engine = { ...parts, commands: [...parts.commands, bad, count] };
    await using box = await testStore(engine);
    await expect(box.store.write(bad, null)).rejects.toThrow();
    expect(await box.store.write(count, null)).toBe(0);
    expect(box.fatal).toEqual([]);
  });

  const add = command<string, void>('add', async (tx, name) => {
    await tx.run("INSERT INTO setting VALUES (?, x'00')", name);
  });
  const addTwo = command<string, void>('add-two', async (tx, name) => {
    await tx.run("INSERT INTO setting VALUES (?, x'00')", `half of ${name}`);
    await tx.run("INSERT INTO setting VALUES (?, x'00')", name);
  });
  const names = query('names', async (rx): Promise<string[]> => {
    const rows = await rx.all<{ name: string }>("SELECT name FROM setting WHERE name LIKE '%n%' ORDER BY name");
    return rows.map(({ name }) => name);
  });
  const engine = { ...parts, commands: [...parts.commands, add, addTwo] };

  test('of one commit, those beside a failed one are done once, and the failed one leaves nothing', async () => {
    await using box = await testStore(engine);
    // Twice: the first batch begins without savepoints, the next one has them.
    for (const round of [1, 2]) {
      const all = ['n1', 'n2', 'n1', 'n3'].map((name) => box.store.write(addTwo, `${name} ${round}`));
      const ends = (await Promise.allSettled(all)).map(({ status }) => status);
      expect(ends).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    }
    const done = ['n1 1', 'n1 2', 'n2 1', 'n2 2', 'n3 1', 'n3 2'];
    expect(await box.store.read(names, undefined)).toEqual([...done.map((name) => `half of ${name}`), ...done].sort());
    expect(box.fatal).toEqual([]);
  });

  // The savepoints of SQLite are counted.
  test.skipIf(onPostgres)(
    'a failed command costs a second run of its batch and savepoints for a while, not for ever',
    async () => {
      const counts: StatementCounts = { statements: 0, commits: 0, pages: 0 };
      using _ = probeStatements(counts);
      await using box = await testStore(engine);
      const costOf = async (name: string): Promise<number> => {
        const before = counts.statements;
        await box.store.write(add, name);
        return counts.statements - before;
      };
      expect(await costOf('n0')).toBe(3);
      await expect(box.store.write(add, 'n0')).rejects.toThrow('UNIQUE');
      const costs: number[] = [];
      for (let n = 1; n <= 70; n++) costs.push(await costOf(`n${n}`));
      expect(costs).toEqual([...Array(64).fill(5), ...Array(6).fill(3)]);
    },
  );
});

test('a query whose snapshot went with its error reports the error, not that there is no snapshot', async () => {
  await using box = await testStore();
  const broken = query('test-broken', async (rx) => {
    await rx.get('ROLLBACK'); // as a full memory or a failing disk does it
    throw new Error('the cause');
  });
  await expect(box.store.read(broken, undefined)).rejects.toThrow('the cause');
});

// The errors of SQLite.
test.skipIf(onPostgres)(
  'a lookup has one statement: a second one, which could see another commit, is refused',
  async () => {
    await using box = await testStore();
    const twice = lookup('test-twice', async (rx) => {
      await rx.get('SELECT 1 AS one');
      await rx.get('SELECT 2 AS two');
    });
    await expect(box.store.read(twice, undefined)).rejects.toThrow('a lookup has one statement');
    const failing = lookup('test-failing', (rx) => rx.get('SELECT json(?) AS one', '['));
    await expect(box.store.read(failing, undefined)).rejects.toThrow('malformed JSON');
    const after = query('test-after', async (rx) => [await rx.get('SELECT 1 AS n'), await rx.get('SELECT 2 AS n')]);
    expect(await box.store.read(after, undefined)).toEqual([{ n: 1 }, { n: 2 }]);
  },
);
