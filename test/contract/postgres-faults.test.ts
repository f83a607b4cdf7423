import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { quiet } from '../../mail/log.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { numberedTables } from '../../mail/store/engine/postgres/connection.ts';
import { isAway } from '../../mail/store/engine/postgres/errors.ts';
import { DedicatedConnection } from '../../mail/store/engine/postgres/dedicated.ts';
import { migratePostgres } from '../../mail/store/engine/postgres/migrate.ts';
import { connectNode } from '../../mail/store/engine/postgres/node-lock.ts';
import { DatabaseWatch } from '../../mail/store/engine/postgres/watch.ts';
import { PostgresWriter } from '../../mail/store/engine/postgres/writer.ts';
import type { WriteResponse } from '../../mail/store/engine/writer-host.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { MailStore } from '../../mail/store/store.ts';
import { connectPostgres, isPostgresInstalled, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';

const OCTET = new Uint8Array([7]);
const mark = command('mark', (tx, name: string) =>
  tx.run('INSERT INTO setting (name, value) VALUES (?, ?)', name, OCTET),
);
const marks = query('marks', async (rx) =>
  (await rx.all<{ name: string }>('SELECT name FROM setting ORDER BY name')).map(({ name }) => name),
);
const clear = command('clear', (tx) => tx.run('DELETE FROM setting'));

describe.skipIf(!isPostgresInstalled)('a PostgreSQL (postgresql-15 of Debian) that fails', () => {
  let server: PostgresServer;
  let proxy: PostgresProxy;
  let store: MailStore;
  let dataDir: string;
  let sql: ReturnType<typeof connectPostgres>;
  const fatal: Error[] = [];

  beforeAll(async () => {
    server = startPostgres();
    sql = connectPostgres(server);
    proxy = await PostgresProxy.open(server);
    dataDir = mkdtempSync(join(tmpdir(), 'mailstead-test-'));
    store = await MailStore.open({
      dataDir,
      database: proxy.url,
      engine: { ...mailParts(), commands: [...mailParts().commands, mark, clear] },
      keepFree: 0,
      clock: () => Date.UTC(2026, 0, 1),
      log: quiet,
      meter: quiet,
      fatal: (error) => fatal.push(error),
    });
  }, 300_000);
  afterEach(async () => {
    expect(fatal).toEqual([]);
    await expect
      .poll(
        () =>
          store.write(clear, undefined).then(
            () => true,
            () => false,
          ),
        LONG,
      )
      .toBe(true);
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    await sql.end();
    server[Symbol.dispose]();
    rmSync(dataDir, { recursive: true });
  });

  const LONG = { timeout: 120_000 };
  /** Answer of a write: undefined, or the error. */
  const writing = (name: string): Promise<unknown> =>
    store.write(mark, name).then(
      () => undefined,
      (error: unknown) => error,
    );
  const stored = (): Promise<string[]> => store.read(marks, undefined);

  test('a commit whose reply is lost is acknowledged once', async () => {
    const met = proxy.failCommit('lose-reply');
    expect(await writing('reply')).toBeUndefined();
    await met;
    expect(await stored()).toEqual(['reply']);
  });

  test('a commit that is lost on its way is "later", and nothing is stored', async () => {
    const met = proxy.failCommit('lose-commit');
    expect(await writing('lost')).toMatchObject({ name: 'StoreBusy', reason: 'database' });
    await met;
    expect(await stored()).toEqual([]);
    expect(await writing('next')).toBeUndefined();
  });

  /** Runs `work` with a writer of less patience than a server has, on a database of its own behind the proxy. */
  async function impatient(work: (write: (name: string) => Promise<WriteResponse>) => Promise<void>): Promise<void> {
    await sql.unsafe('CREATE DATABASE impatient TEMPLATE template0');
    const url = proxy.url.replace('/postgres?', '/impatient?');
    const first = await connectNode(url);
    await migratePostgres(first.sql, mailMigrations());
    const numbered = await numberedTables(first.sql);
    const answers = new Map<number, (answer: WriteResponse) => void>();
    const writer = new PostgresWriter(first.use(numbered), {
      node: undefined,
      commands: [mark],
      hooks: mailParts().hooks,
      host: {
        more: () => [],
        answer: (all) => all.forEach((answer) => answers.get(answer.id)?.(answer)),
        fatal: ({ message }) => fatal.push(new Error(message)),
        idle: () => undefined,
      },
      connect: async () => (await connectNode(url)).use(numbered),
      patience: { silent: 2_000, unknown: 4_000 },
    });
    try {
      await work((name) => {
        const { promise, resolve } = Promise.withResolvers<WriteResponse>();
        const id = answers.size + 1;
        answers.set(id, resolve);
        writer.submit([{ id, name: 'mark', input: name, stamp: undefined as never, slice: false }]);
        return promise;
      });
    } finally {
      proxy.recover();
      await writer.close();
      await sql.unsafe('DROP DATABASE impatient WITH (FORCE)');
    }
  }

  test('a commit that nobody can tell of in time is a fault, for which no file is deleted', async () => {
    await impatient(async (write) => {
      const met = proxy.failCommit('lose-reply');
      const answer = write('unknown');
      await met;
      proxy.refuse();
      expect(await answer).toMatchObject({ ok: false, failure: { reason: 'fault' } });
    });
  });

  test('a silent network acknowledges nothing, and each answer comes when the patience is over', async () => {
    await impatient(async (write) => {
      expect(await write('before')).toMatchObject({ ok: true });
      proxy.stall();
      expect(await write('silent')).toMatchObject({ ok: false, failure: { reason: 'database' } });
      // Connecting is silent, too.
      expect(await write('again')).toMatchObject({ ok: false, failure: { reason: 'database' } });
      proxy.recover();
      expect(await write('after')).toMatchObject({ ok: true });
    });
  });

  test('a full disk of PostgreSQL is "later", and nothing of the batch is stored', async () => {
    // The code that PostgreSQL has for a full disk, raised by the insert itself.
    await sql.unsafe(
      `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF NEW.name = 'full' THEN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
         END IF; RETURN NEW; END $$;
       CREATE TRIGGER full_disk BEFORE INSERT ON setting FOR EACH ROW EXECUTE FUNCTION full_disk()`,
    );
    const answers = await Promise.all([writing('beside'), writing('full')]);
    for (const answer of answers) expect(answer).toMatchObject({ name: 'StoreBusy', reason: 'disk-full' });
    expect(await stored()).toEqual([]);
    await sql.unsafe('DROP FUNCTION full_disk CASCADE');
    expect(await writing('next')).toBeUndefined();
  });

  test('a primary that was demoted is "later", is not ready, and is used again when it writes', async () => {
    await sql.unsafe('ALTER DATABASE postgres SET default_transaction_read_only = on');
    // Those who are connected would not notice.
    await sql.unsafe('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
    await expect.poll(() => writing('demoted'), LONG).toMatchObject({ name: 'StoreBusy', reason: 'database' });
    await expect.poll(() => store.unavailable()?.reason, LONG).toBe('database');
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const watch = new DatabaseWatch(server.url, resolve);
    expect(await promise).toBe(false);
    await watch.close();
    await sql.unsafe('SET default_transaction_read_only = off');
    await sql.unsafe('ALTER DATABASE postgres RESET default_transaction_read_only');
    await expect.poll(() => store.unavailable(), LONG).toBeUndefined();
    await expect.poll(() => writing('promoted'), LONG).toBeUndefined();
    expect(await stored()).toEqual(['promoted']);
  });

  test('every statement of a connection that is lost fails, also one that waits behind another', async () => {
    const connection = await DedicatedConnection.open(proxy.url);
    const { statements } = connection;
    // The library describes a statement with parameters before it sends the next ones.
    const first = statements.get('SELECT pg_sleep(?) AS slept', [60]).catch((error: unknown) => error);
    const behind = statements.get('SELECT ? + 1 AS sum', [1]).catch((error: unknown) => error);
    statements.send('SELECT ? + 2 AS sum', [1]);
    const settled = statements.settle().catch((error: unknown) => error);
    await expect
      .poll(() => sql.unsafe(`SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'`), LONG)
      .toHaveLength(1);
    await sql.unsafe(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'`);
    for (const error of await Promise.all([first, behind, settled])) expect(isAway(error), String(error)).toBe(true);
    expect(connection.isClosed).toBe(true);
    await connection.close();
  });

  test('a name that cannot be resolved is "away"', async () => {
    const opening = DedicatedConnection.open('postgres://mailstead@mailstead.invalid/postgres');
    expect(isAway(await opening.catch((error: unknown) => error))).toBe(true);
    for (const code of ['ENOTFOUND', 'EAI_AGAIN', 'EHOSTDOWN', '25006']) expect(isAway({ code }), code).toBe(true);
  });
});
