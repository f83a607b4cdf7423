import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  connectPostgres,
  createSchema,
  isPostgresInstalled,
  type PostgresServer,
  startPostgres,
} from '../support/postgres.ts';

describe.skipIf(!isPostgresInstalled)('compression of messages (postgresql-15 of Debian)', () => {
  let server: PostgresServer;
  let sql: postgres.Sql;

  beforeAll(async () => {
    server = startPostgres();
    sql = connectPostgres(server);
    await createSchema(sql, []);
    // As an earlier version left it.
    await sql.unsafe('CREATE TABLE blob (id bigint, data bytea)');
  }, 300_000);
  afterAll(async () => {
    await sql.end();
    server[Symbol.dispose]();
  });

  const compressionOf = async (id: number): Promise<unknown> => {
    await sql.unsafe(`INSERT INTO blob SELECT ${id}, repeat('mail ', 3000)::bytea`);
    return (await sql.unsafe(`SELECT pg_column_compression(data) AS name FROM blob WHERE id = ${id}`))[0]?.['name'];
  };

  test('a start changes it to lz4, but does not wait for a node that reads for long', async () => {
    const reader = connectPostgres(server);
    const reading = await reader.reserve();
    await reading.unsafe('BEGIN');
    await reading.unsafe('SELECT count(*) FROM blob');
    await createSchema(sql, []);
    expect(await compressionOf(1)).toBe('pglz');
    await reading.unsafe('COMMIT');
    reading.release();
    await reader.end();
    await createSchema(sql, []);
    expect(await compressionOf(2)).toBe('lz4');
  });
});
