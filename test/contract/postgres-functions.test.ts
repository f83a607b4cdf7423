import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  connectPostgres,
  createSchema,
  isPostgresInstalled,
  type PostgresServer,
  startPostgres,
} from '../support/postgres.ts';

describe.skipIf(!isPostgresInstalled)('functions of an existing database (postgresql-15 of Debian)', () => {
  let server: PostgresServer;
  let sql: postgres.Sql;

  beforeAll(async () => {
    server = startPostgres();
    sql = connectPostgres(server);
    await createSchema(sql, []);
  }, 300_000);
  afterAll(async () => {
    await sql.end();
    server[Symbol.dispose]();
  });

  const hex = async (): Promise<unknown> => (await sql.unsafe(`SELECT hex('\\xab'::bytea) AS text`))[0]?.['text'];
  const version = async (): Promise<unknown> =>
    (await sql.unsafe(`SELECT obj_description('mailstead'::regnamespace, 'pg_namespace') AS version`))[0]?.['version'];
  /** Number of the transaction that wrote a function last. */
  const writtenBy = async (): Promise<unknown> =>
    (await sql.unsafe(`SELECT xmin::text AS number FROM pg_proc WHERE proname = 'hex'`))[0]?.['number'];

  test('are replaced at a start of a version that has others, and else left alone', async () => {
    const current = await version();
    // As an earlier version created it, whose schema has no comment.
    await sql.unsafe(
      `CREATE OR REPLACE FUNCTION hex(bytea) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT encode($1, ''hex'')';
       COMMENT ON SCHEMA mailstead IS NULL`,
    );
    expect(await hex()).toBe('ab');
    await createSchema(sql, []);
    expect(await hex()).toBe('AB');
    expect(await version()).toBe(current);
    const before = await writtenBy();
    await createSchema(sql, []);
    expect(await writtenBy()).toBe(before);
  });

  test('still serve views, indexes and operators that need them', async () => {
    await sql.unsafe(
      `CREATE VIEW needs AS SELECT '{"a": 1}'::text ->> '$.a' AS member, sum(1::bigint) AS total;
       COMMENT ON SCHEMA mailstead IS 'functions of another version'`,
    );
    await createSchema(sql, []);
    expect(await sql.unsafe('SELECT member, total::int AS total FROM needs')).toMatchObject([
      { member: '1', total: 1 },
    ]);
  });
});
