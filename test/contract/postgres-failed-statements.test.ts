import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PostgresReader } from '../../mail/store/engine/postgres/reader.ts';
import { ReopenedConnection } from '../../mail/store/engine/postgres/reopened.ts';
import { lookup, query } from '../../mail/store/engine/types.ts';
import { isPostgresInstalled, type PostgresServer, startPostgres } from '../support/postgres.ts';

/** Fails after three rows. */
const FAILS = 'SELECT 1 / (4 - n) AS n FROM generate_series(1, 9) n';
const NUMBERS = 'SELECT n FROM generate_series(1, 5) n';

const failing = lookup('failing', (rx) => rx.all(FAILS));
const numbers = lookup('numbers', (rx) => rx.all(NUMBERS));
const first = lookup('first', (rx) => rx.get(NUMBERS));
const afterFailure = query('after-failure', async (rx) => {
  const found = await Promise.all([rx.all(FAILS).catch(() => []), rx.all(NUMBERS)]);
  const time = 'SELECT txid_current_snapshot()::text AS snapshot';
  return { found, isOneSnapshot: (await rx.get(time))?.['snapshot'] === (await rx.get(time))?.['snapshot'] };
});
const failsAlone = query('fails-alone', (rx) => rx.all(FAILS));

test.skipIf(!isPostgresInstalled)('a process that was held up takes no reply for missing', async () => {
  using server = startPostgres();
  const connection = new ReopenedConnection(server.url, 500);
  await connection.run((rx) => rx.get('SELECT 1 AS n', []));
  const reply = connection.run((rx) => rx.get('SELECT 1 AS n FROM pg_sleep(0.2)', []));
  await delay(100);
  // Timers come next, and then what arrived.
  setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000));
  expect(await reply).toEqual({ n: 1 });
  await expect(connection.run((rx) => rx.get('SELECT 1 AS n FROM pg_sleep(9)', []))).rejects.toThrow('lost');
  await connection.close();
});

describe.skipIf(!isPostgresInstalled)('statements of a reader on PostgreSQL (postgresql-15 of Debian)', () => {
  let server: PostgresServer;
  let reader: PostgresReader;

  beforeAll(() => {
    server = startPostgres();
    reader = new PostgresReader(server.url, 1);
  });
  afterAll(async () => {
    await reader.close();
    server[Symbol.dispose]();
  });

  const rows = [1, 2, 3, 4, 5].map((n) => ({ n }));

  test('one that fails amid its rows takes none from the next one', async () => {
    await expect(reader.query(failing, undefined)).rejects.toThrow('division by zero');
    expect(await reader.query(numbers, undefined)).toEqual(rows);
    await expect(reader.query(failing, undefined)).rejects.toThrow('division by zero');
    expect(await reader.query(first, undefined)).toEqual({ n: 1 });
  });

  test('a query goes on after one that failed, in one snapshot', async () => {
    expect(await reader.query(afterFailure, undefined)).toEqual({ found: [[], rows], isOneSnapshot: true });
    expect(await reader.query(numbers, undefined)).toEqual(rows);
  });

  test('a query whose statement failed fails with its error', async () => {
    await expect(reader.query(failsAlone, undefined)).rejects.toThrow('division by zero');
  });
});
