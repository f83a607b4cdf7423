import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { markedDatabase } from '../../mail/store/engine/database-marker.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { moveToPostgres, moveToSqlite } from '../../mail/store/move/move.ts';
import { BackupWorld, contentOf } from '../support/backup-world.ts';
import { connectPostgres, isPostgresInstalled, type PostgresServer, startPostgres } from '../support/postgres.ts';

describe.skipIf(!isPostgresInstalled)('mail that moves to PostgreSQL (postgresql-15 of Debian) and back', () => {
  let server: PostgresServer;
  let world: BackupWorld;
  let before: Record<string, unknown>;

  /** All rows, files and last numbers of tables; each engine records its own times of migrations. */
  const content = (): Record<string, unknown> => {
    const { migration: _, ...rest } = contentOf(world.dataDir);
    using db = new DatabaseSync(join(world.dataDir, 'mailstead.db'), { readOnly: true });
    const numbers = db.prepare('SELECT name, seq FROM sqlite_sequence ORDER BY name').all();
    return { ...rest, numbers: numbers.map((row) => ({ ...row })) };
  };
  const options = () => ({ dataDir: world.dataDir, url: server.url, migrations: mailMigrations() });

  beforeAll(async () => {
    server = startPostgres();
    world = await BackupWorld.create(40, 2);
    {
      // A number that no row has any more is never given again.
      using db = new DatabaseSync(join(world.dataDir, 'mailstead.db'));
      db.exec(`UPDATE sqlite_sequence SET seq = 1000 WHERE name = 'mailbox'`);
    }
    before = content();
  }, 300_000);

  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    server[Symbol.dispose]();
  });

  test('of another version is refused, and stays where it is', async () => {
    const migrations = mailMigrations().slice(0, -1);
    await expect(moveToPostgres({ ...options(), migrations })).rejects.toThrow('Start this version');
    expect(content()).toEqual(before);
  });

  test('is there and back the same, octet for octet', async () => {
    const there = await moveToPostgres(options());
    expect(there).toMatchObject({ messages: 42, left: join(world.dataDir, 'mailstead.db.moved') });
    expect(existsSync(join(world.dataDir, 'mailstead.db'))).toBe(false);
    expect(markedDatabase(world.dataDir)).toEqual({ database: `postgres://${server.socket}/postgres` });
    const { left: _, ...proof } = there;
    expect(await moveToSqlite(options())).toEqual({ ...proof, left: null });
    expect(content()).toEqual(before);
    expect(existsSync(join(world.dataDir, 'database.json'))).toBe(false);
  });

  test('is refused where mail is already', async () => {
    await expect(moveToPostgres(options())).rejects.toThrow('The database on PostgreSQL has mailboxes');
    await expect(moveToSqlite(options())).rejects.toThrow('has an embedded database');
    expect(content()).toEqual(before);
  });

  test('with NUL in texts, which PostgreSQL cannot have, has U+FFFD there instead', async () => {
    using target = startPostgres();
    await using small = await BackupWorld.create(1);
    const path = join(small.dataDir, 'mailstead.db');
    {
      using db = new DatabaseSync(path);
      db.exec(`UPDATE email SET from_d = 'a' || char(0) || 'b'`);
    }
    const place = { ...options(), dataDir: small.dataDir, url: target.url };
    await moveToPostgres(place);
    await moveToSqlite(place);
    using db = new DatabaseSync(path, { readOnly: true });
    expect(db.prepare('SELECT from_d FROM email').get()).toEqual({ from_d: 'a\ufffdb' });
  });

  test('leaves out results of strangers that an earlier version stored and no key there holds', async () => {
    using target = startPostgres();
    await using small = await BackupWorld.create(1);
    {
      using db = new DatabaseSync(join(small.dataDir, 'mailstead.db'));
      const add = db.prepare(
        `INSERT INTO tls_result (day, domain, policy_type, policy, result, mx, ip, own_ip, sessions)
         VALUES (1, 'a.test', 'sts', ?, 'success', '', '', '', 1)`,
      );
      for (const octets of [10, 2_000]) add.run(randomBytes(octets).toString('hex'));
    }
    await moveToPostgres({ ...options(), dataDir: small.dataDir, url: target.url });
    const sql = connectPostgres(target);
    expect(await sql.unsafe('SELECT length(policy) AS characters FROM tls_result')).toEqual([{ characters: 20 }]);
    await sql.end();
  });

  test('says why PostgreSQL refuses a row, also the last one of a table', async () => {
    using target = startPostgres();
    await using small = await BackupWorld.create(1);
    {
      using db = new DatabaseSync(join(small.dataDir, 'mailstead.db'));
      db.prepare('UPDATE entry SET kw = ?').run(randomBytes(2_000).toString('hex'));
    }
    const place = { ...options(), dataDir: small.dataDir, url: target.url };
    await expect(moveToPostgres(place)).rejects.toThrow(/index row/);
    expect(existsSync(join(small.dataDir, 'mailstead.db'))).toBe(true);
  });
});
