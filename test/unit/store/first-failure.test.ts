import { expect, test } from 'vitest';
import { firstFailure } from '../../../mail/store/engine/postgres/batch-commands.ts';
import { PostgresConnection } from '../../../mail/store/engine/postgres/connection.ts';

/** A connection whose statements fail with these codes, one after the other. */
function failing(codes: readonly string[]): PostgresConnection {
  const left = [...codes];
  const unsafe = (): Promise<never> => Promise.reject(Object.assign(new Error('failed'), { code: left.shift() }));
  return new PostgresConnection({ unsafe }, new Map());
}

test('a full disk is the reason of a batch though a statement that was sent behind it failed because of it', async () => {
  const connection = failing(['53100', '25P02']);
  const full: unknown = await connection.get('SELECT 1', []).catch((error: unknown) => error);
  connection.send('SELECT 2', []);
  expect(await firstFailure(connection, full)).toBe(full);
});

test('a statement that was sent and failed is the reason why one behind it failed', async () => {
  const connection = failing(['53100', '25P02']);
  connection.send('SELECT 1', []);
  const later: unknown = await connection.get('SELECT 2', []).catch((error: unknown) => error);
  expect(await firstFailure(connection, later)).toMatchObject({ code: '53100' });
});
