import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { quiet } from '../../mail/log.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { type Command, command, lookup, query, StoreBusy, type WakeUp } from '../../mail/store/engine/types.ts';
import { expunge, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { recordJournalEvent } from '../../mail/store/journal/journal.ts';
import { addListener } from '../../mail/store/notification/listener.ts';
import { MailStore } from '../../mail/store/store.ts';
import { deliverMail } from '../support/deliver-mail.ts';
import { isPostgresInstalled, startPostgres } from '../support/postgres.ts';
import { testAccount, testStore } from '../support/store.ts';

const mark = command('mark', (tx, { name, value }: { name: string; value: Uint8Array }) =>
  tx.run('INSERT INTO setting (name, value) VALUES (?, ?)', name, value),
);
const marks = query('marks', async (rx) =>
  (await rx.all<{ name: string }>('SELECT name FROM setting ORDER BY name')).map(({ name }) => name),
);
const clear = command('clear', (tx) => tx.run('DELETE FROM setting'));
const OCTET = new Uint8Array([7]);
const typed = command('typed', async (tx) => {
  const { id, changes } = await tx.run(
    `INSERT INTO domain (tenant, name, created_at) VALUES (?, ?, ?)`,
    1,
    'other.test',
    1_767_225_600_000,
  );
  return { id, changes };
});
const fails = command('fails', async (tx) => {
  await tx.run('INSERT INTO setting (name, value) VALUES (?, ?)', 'half', OCTET);
  throw new Error('no');
});
const tries = command('tries', async (tx) => {
  await tx.run('INSERT INTO setting (name, value) VALUES (?, ?)', 'kept', OCTET);
  const { ok } = await tx.attempt(async () => {
    await tx.run('INSERT INTO setting (name, value) VALUES (?, ?)', 'undone', OCTET);
    await tx.run('INSERT INTO setting (name, value) VALUES (?, ?)', 'kept', OCTET);
  });
  return ok;
});
const swallows = command('swallows', async (tx) => {
  await tx.run('INSERT INTO setting (name, value) VALUES (?, ?)', 'kept', OCTET).catch(() => undefined);
});
const { promise } = Promise.withResolvers<void>();
const waits = command('waits', async (tx) => {
  await tx.run('INSERT INTO setting (name, value) VALUES (?, ?)', 'waits', OCTET);
  await promise;
});
const listens = command('listens', (tx) => addListener(tx, { tenant: 1, account: null, events: ['submitted'] }));
const submits = command('submits', (tx, _: undefined, stamp) =>
  recordJournalEvent(tx, 'trace', 'submitted', null, {}, stamp, { tenant: 1 }),
);
const sends = command('sends', async (tx) => {
  await tx.send('INSERT INTO setting (name, value) VALUES (?, ?)', 'sent', OCTET);
  await tx.send('INSERT INTO setting (name, value) VALUES (?, ?)', 'sent', OCTET);
});
const beside: Command<number, number[]> = {
  ...command('beside', async (tx) => {
    const insert = `INSERT INTO journal (at, trace, event, detail) VALUES (0, 'beside', 'received', '{}')`;
    return [(await tx.run(insert)).id, (await tx.run(insert)).id];
  }),
  keepsTo: (account) => (account === 0 ? undefined : [account]),
};
const triesBeside: Command<number, boolean> = { ...tries, name: 'tries-beside', keepsTo: (account) => [account] };
const COMMANDS = [beside, triesBeside, mark, clear, typed, fails, tries, swallows, waits, listens, submits, sends];

const TABLES = {
  account: 'SELECT * FROM account ORDER BY id',
  mailbox: 'SELECT * FROM mailbox ORDER BY id',
  email: 'SELECT * FROM email ORDER BY id',
  entry: 'SELECT * FROM entry ORDER BY mailbox_id, uid',
  message_index: 'SELECT * FROM message_index ORDER BY blob_id',
  blob: 'SELECT * FROM blob ORDER BY id',
  sender: 'SELECT * FROM sender ORDER BY account_id, key',
};
const rowsOf = query('rows-of', (rx, sql: string) => rx.all(sql));

/** Rows of an account after two deliveries, a flag and a deletion. */
async function rowsAfterMail(store: MailStore): Promise<object> {
  const { account, inbox } = await testAccount(store);
  await deliverMail(store, { account, to: 'me@box.test' }, 'Subject: one\nFrom: a@remote.example\n\nHello\n');
  await deliverMail(store, { account, to: 'me@box.test' }, 'Subject: two\nFrom: b@remote.example\n\nHello\n');
  const change = { account, mailbox: inbox, how: 'add', unchangedSince: null } as const;
  await store.write(storeFlags, { ...change, uids: [2], flags: { bits: 17, keywords: ['$Forwarded'] } });
  await store.write(expunge, { account, mailbox: inbox, uids: [2] });
  const tables: Record<string, unknown> = {};
  for (const [table, sql] of Object.entries(TABLES)) {
    const rows = await store.read(rowsOf, sql);
    const plain = (value: unknown): unknown => (value instanceof Uint8Array ? [...value] : value);
    tables[table] = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])),
    );
  }
  return tables;
}

describe.skipIf(!isPostgresInstalled)('the engine on PostgreSQL (postgresql-15 of Debian)', () => {
  let server: ReturnType<typeof startPostgres>;
  let store: MailStore;
  const directories: string[] = [];
  const fatal: Error[] = [];

  const open = (): Promise<MailStore> => {
    const dataDir = mkdtempSync(join(tmpdir(), 'mailstead-test-'));
    directories.push(dataDir);
    return MailStore.open({
      dataDir,
      database: server.url,
      engine: { ...mailParts(), commands: [...mailParts().commands, ...COMMANDS] },
      keepFree: 0,
      clock: () => Date.UTC(2026, 0, 1),
      log: quiet,
      meter: quiet,
      fatal: (error) => fatal.push(error),
    });
  };

  beforeAll(async () => {
    server = startPostgres();
    store = await open();
  }, 300_000);
  afterEach(() => store.write(clear, undefined));
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    server[Symbol.dispose]();
    for (const directory of directories) rmSync(directory, { recursive: true });
  });

  test('a command that keeps to accounts and has savepoints runs with those of the batch, and undoes only its own', async () => {
    const both = await Promise.all([store.write(triesBeside, 1), store.write(mark, { name: 'other', value: OCTET })]);
    expect(both[0]).toBe(false);
    expect(await store.read(marks, undefined)).toEqual(['kept', 'other']);
  });

  test('commands that keep to different accounts send their statements beside each other, others do not', async () => {
    const ids = (accounts: number[]): Promise<number[][]> =>
      Promise.all(accounts.map((account) => store.write(beside, account)));
    const [[first = 0] = []] = await ids([1]);
    const from = (numbers: number[][]): number[][] => numbers.map((pair) => pair.map((id) => id - first));
    expect(from(await ids([1, 2]))).toEqual([
      [2, 4],
      [3, 5],
    ]);
    expect(from(await ids([1, 1, 0, 2]))).toEqual([
      [6, 7],
      [8, 9],
      [10, 11],
      [12, 13],
    ]);
  });

  test('an account with mail, a flag and a move has the same rows as on SQLite', async () => {
    await using sqlite = await testStore();
    const wakeUps: WakeUp[] = [];
    store.onWakeUp((wakeUp) => wakeUps.push(wakeUp));
    expect(await rowsAfterMail(store)).toEqual(await rowsAfterMail(sqlite.store));
    expect(wakeUps.filter(({ mailboxes }) => mailboxes.length > 0).length).toBeGreaterThan(2);
  });

  test('values come back as they were written, and run answers the number of the new row', async () => {
    const made = await store.write(typed, undefined);
    await store.write(mark, { name: 'octets', value: new Uint8Array([0, 255]) });
    const back = query('back', async (rx) => ({
      ...(await rx.get(
        'SELECT id, created_at, created_at > 0 AS later, NULL AS none FROM domain WHERE name = ?',
        'other.test',
      )),
      ...(await rx.get<{ value: Uint8Array }>(`SELECT value FROM setting WHERE name = 'octets'`)),
      ...(await rx.get('SELECT count(*) AS n, sum(tenant) AS total FROM domain WHERE name = ?', 'other.test')),
    }));
    const { value, ...rest } = (await store.read(back, undefined)) as { value: Uint8Array };
    expect([...value]).toEqual([0, 255]);
    expect(made).toEqual({ id: expect.any(Number), changes: 1 });
    expect(rest).toEqual({ id: made.id, created_at: 1_767_225_600_000, later: 1, none: null, n: 1, total: 1 });
  });

  test('a command that fails leaves nothing, and the others of its batch are committed', async () => {
    const done = await Promise.allSettled([
      store.write(mark, { name: 'a', value: OCTET }),
      store.write(fails, undefined),
      store.write(mark, { name: 'b', value: OCTET }),
    ]);
    expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await store.read(marks, undefined)).toEqual(['a', 'b']);
  });

  test('an error is caught by attempt alone, and takes only its own changes with it', async () => {
    expect(await store.write(tries, undefined)).toBe(false);
    await expect(store.write(swallows, undefined)).rejects.toThrow('duplicate key');
    expect(await store.read(marks, undefined)).toEqual(['kept']);
  });

  test('a statement that is sent without waiting fails its command, and no other of its batch', async () => {
    const done = await Promise.allSettled([
      store.write(mark, { name: 'a', value: OCTET }),
      store.write(sends, undefined),
      store.write(mark, { name: 'b', value: OCTET }),
    ]);
    expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await store.read(marks, undefined)).toEqual(['a', 'b']);
  });

  test('a webhook gets its number and its events, and an infinite bound lies beyond every integer', async () => {
    const number = await store.write(listens, undefined);
    const between = lookup('between', (rx) =>
      rx.get('SELECT id FROM listener WHERE id < ? AND id > ? LIMIT ?', Infinity, -Infinity, Infinity),
    );
    expect(await store.read(between, undefined)).toEqual({ id: number });
    await store.write(submits, undefined);
    const events = lookup('events', (rx) => rx.all('SELECT listener_id, event FROM webhook_event'));
    expect(await store.read(events, undefined)).toEqual([{ listener_id: number, event: 'submitted' }]);
  });

  test('a body that awaits something else than its transaction is refused', async () => {
    await expect(store.write(waits, undefined)).rejects.toThrow('awaited something other');
    expect(await store.read(marks, undefined)).toEqual([]);
  });

  test('a query has one snapshot', async () => {
    const twice = query('twice', async (rx) => {
      const before = await marks.run(rx, undefined);
      await store.write(mark, { name: 'between', value: OCTET });
      return [before, await marks.run(rx, undefined)];
    });
    expect(await store.read(twice, undefined)).toEqual([[], []]);
    const one = lookup('one', (rx) => rx.get('SELECT count(*) AS n FROM setting'));
    expect(await store.read(one, undefined)).toEqual({ n: 1 });
  });

  test('a second node is refused in words', async () => {
    await expect(open()).rejects.toThrow('Another Mailstead writes to this database');
  });

  test('what was answered is there after PostgreSQL was killed; until it is back the answer is "later"', async () => {
    await store.write(mark, { name: 'before', value: OCTET });
    server.restart();
    const answer = await store.write(mark, { name: 'during', value: OCTET }).catch((error: unknown) => error);
    const isCommitted = !(answer instanceof Error);
    if (!isCommitted) expect(answer).toBeInstanceOf(StoreBusy);
    await store.write(mark, { name: 'after', value: OCTET });
    const there = await expect
      .poll(() => store.read(marks, undefined).catch(() => []), { timeout: 200_000 })
      .toContain('after')
      .then(() => store.read(marks, undefined));
    expect(there).toEqual(isCommitted ? ['after', 'before', 'during'] : ['after', 'before']);
    expect(fatal).toEqual([]);
  }, 300_000);
});
