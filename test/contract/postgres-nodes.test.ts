import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { quiet } from '../../mail/log.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import type { NodeSignal } from '../../mail/store/engine/postgres/commit-log.ts';
import { command, query, type WakeUp } from '../../mail/store/engine/types.ts';
import { removeAccount } from '../../mail/store/account/account-removal.ts';
import { addAppPassword, removeAppPassword, setPassword } from '../../mail/store/account/credential.ts';
import { storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { MailStore } from '../../mail/store/store.ts';
import { deliverMail } from '../support/deliver-mail.ts';
import { connectPostgres, isPostgresInstalled, startPostgres } from '../support/postgres.ts';
import { testAccount } from '../support/store.ts';

const NODES = ['a', 'b', 'c'];
const PATIENCE = { timeout: 60_000, interval: 20 };
const fails = command('fails', async (tx) => {
  await tx.run(`INSERT INTO setting (name, value) VALUES ('half', 'no')`);
  throw new Error('no');
});
const failsToEnd = command('fails-to-end', (tx, account: number) => {
  tx.loginsEnded(account);
  return Promise.reject(new Error('no'));
});
const removes = command('removes', (tx, account: number) => removeAccount(tx, { tenant: 1, account }));
const PASSWORD = {
  ref: 'new',
  name: 'password',
  scopes: ['imap'],
  storedKey: new Uint8Array(32),
  serverKey: new Uint8Array(32),
  sealed: null,
  expiresAt: null,
};
const uidsOf = query('uids-of', async (rx, mailbox: number) =>
  (await rx.all<{ uid: number }>('SELECT uid FROM entry WHERE mailbox_id = ? ORDER BY uid', mailbox)).map(
    ({ uid }) => uid,
  ),
);

describe.skipIf(!isPostgresInstalled)('nodes of one database (postgresql-15 of Debian)', () => {
  let server: ReturnType<typeof startPostgres>;
  let stores: MailStore[] = [];
  let first: MailStore;
  let second: MailStore;
  const directories: string[] = [];

  const open = (node: string | undefined): Promise<MailStore> => {
    const dataDir = mkdtempSync(join(tmpdir(), 'mailstead-test-'));
    directories.push(dataDir);
    return MailStore.open({
      dataDir,
      database: server.url,
      node,
      engine: { ...mailParts(), commands: [...mailParts().commands, fails, failsToEnd, removes] },
      keepFree: 0,
      clock: () => Date.UTC(2026, 0, 1),
      log: quiet,
      meter: quiet,
      fatal: (error) => {
        throw error;
      },
    });
  };

  beforeAll(async () => {
    server = startPostgres();
    // All at once: the first one creates the tables.
    stores = await Promise.all(NODES.map(open));
    [first, second] = stores as [MailStore, MailStore];
  }, 300_000);
  afterAll(async () => {
    for (const store of stores) await store[Symbol.asyncDispose]();
    server[Symbol.dispose]();
    for (const directory of directories) rmSync(directory, { recursive: true });
  });

  test('messages that all nodes store at once have one order of UIDs, which each node sees grow', async () => {
    const { account, inbox } = await testAccount(first);
    const views = await Promise.all(stores.map((store) => store.view(account, inbox)));
    const seen = views.map(() => [0]);
    const ends = stores.map((store, at) =>
      store.onWakeUp((wakeUp) => {
        const view = views[at];
        if (wakeUp.account === account && view !== undefined) seen[at]?.push(view.length);
      }),
    );
    const mail = stores.map(async (store, node) => {
      for (let i = 0; i < 20; i++) {
        await deliverMail(store, { account, to: 'me@box.test' }, `Subject: ${node} ${i}\n\nHello\n`);
        if (i % 5 === 0) await expect(store.write(fails, undefined)).rejects.toThrow('no');
      }
    });
    await Promise.all(mail);
    await vi.waitFor(() => expect(views.map((view) => view.length)).toEqual([60, 60, 60]), PATIENCE);
    const uids = await second.read(uidsOf, inbox);
    expect(uids).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
    for (const view of views) expect([...view.uids.subarray(0, view.length)]).toEqual(uids);
    for (const lengths of seen) expect(lengths).toEqual([...lengths].sort((one, other) => one - other));
    for (const end of ends) end();
    for (const view of views) view.close();
  });

  test('a flag that one node stores is seen by the views of the others', async () => {
    const { account, inbox } = await testAccount(first, 'flags');
    await deliverMail(first, { account, to: 'flags@box.test' }, 'Subject: one\n\nHello\n');
    const view = await second.view(account, inbox);
    const change = { account, mailbox: inbox, how: 'add', unchangedSince: null } as const;
    await first.write(storeFlags, { ...change, uids: [1], flags: { bits: 1, keywords: ['$Forwarded'] } });
    await vi.waitFor(() => expect(view.flagNames(1)).toContain('$Forwarded'), PATIENCE);
    view.close();
  });

  test('a signal reaches the other nodes once, and not its sender', async () => {
    const heard: [string | undefined, NodeSignal][] = [];
    const ends = stores.map((store) => store.nodes?.onSignal((signal) => heard.push([store.nodes?.name, signal])));
    first.nodes?.signal({ kind: 'revoked', account: 7 });
    const others = NODES.slice(1).map((name) => [name, { kind: 'revoked', account: 7 }]);
    await vi.waitFor(() => expect(heard.length).toBeGreaterThan(1), PATIENCE);
    expect(heard.toSorted((one, other) => String(one[0]).localeCompare(String(other[0])))).toEqual(others);
    for (const end of ends) end?.();
  });

  test('a commit that deletes passwords announces that their logins end, and a command that fails announces nothing', async () => {
    const { account } = await testAccount(first, 'leaving');
    const heard: NodeSignal[] = [];
    const end = second.nodes?.onSignal((signal) => heard.push(signal));
    await expect(first.write(failsToEnd, account)).rejects.toThrow('no');
    const set = await first.write(setPassword, { account, credential: { ...PASSWORD, kind: 'mailbox' } });
    const added = await first.write(addAppPassword, { account, credential: { ...PASSWORD, ref: 'app', kind: 'app' } });
    const id = added.kind === 'added' ? added.id : 0;
    await first.write(removeAppPassword, { account, id });
    expect(await first.write(removes, account)).toBe(true);
    await vi.waitFor(() => expect(heard.length).toBeGreaterThanOrEqual(3), PATIENCE);
    expect(heard).toEqual([
      { kind: 'revoked', account, credential: set.kind === 'set' ? set.old[0] : undefined },
      { kind: 'revoked', account, credential: id },
      { kind: 'revoked', account },
    ]);
    end?.();
  });

  test('after a restart of PostgreSQL the nodes hear of each other again', async () => {
    const { account } = await testAccount(first, 'later');
    server.restart();
    const woken: WakeUp[] = [];
    const end = second.onWakeUp((wakeUp) => woken.push(wakeUp));
    await vi.waitFor(() => deliverMail(first, { account, to: 'later@box.test' }, 'Subject: one\n\nHello\n'), PATIENCE);
    await vi.waitFor(() => expect(woken.map((wakeUp) => wakeUp.account)).toContain(account), PATIENCE);
    end();
  });

  test('one node leads at a time: another one follows when it resigns, and when its connection ends', async () => {
    const leaders = (): (string | undefined)[] =>
      stores.filter((store) => store.nodes?.leads === true).map((store) => store.nodes?.name);
    const turns: string[] = [];
    for (const { nodes } of stores)
      await nodes?.elect((leads) => turns.push(`${nodes.name} ${leads ? 'begins' : 'ends'}`));
    await vi.waitFor(() => expect(leaders()).toHaveLength(1), PATIENCE);
    const [old] = leaders();
    await stores.find((store) => store.nodes?.name === old)?.nodes?.resign();
    await vi.waitFor(() => expect(leaders()).toHaveLength(1), PATIENCE);
    expect(leaders()).not.toEqual([old]);
    const before = turns.length;
    const sql = connectPostgres(server);
    await sql`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = ${LEADER} AND granted`;
    await sql.end();
    await vi.waitFor(() => expect(turns.length).toBeGreaterThan(before + 1), PATIENCE);
    await vi.waitFor(() => expect(leaders()).toHaveLength(1), PATIENCE);
  });

  test('two nodes of one name are refused, and a server without a name beside nodes', async () => {
    await expect(open('a')).rejects.toThrow('Another node has the name a');
    await expect(open(undefined)).rejects.toThrow('set MAILSTEAD_NODE on both');
  }, 180_000);
});

/** Low half of the key of the leader's lock, as pg_locks has it. */
const LEADER = Number(7_205_759_403_795n & 0xffff_ffffn);
