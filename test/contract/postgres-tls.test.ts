import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPool } from '../../mail/store/engine/postgres/connection.ts';
import { tlsOf, tlsProblem } from '../../mail/store/engine/postgres/tls.ts';
import { connectionAddress } from '../../mail/store/engine/postgres/url.ts';

const URL_OF = 'postgres://mailstead@db.example/mail';
/** First octets of a request for TLS, and of protocol 3. */
const REQUESTS: Readonly<Record<string, string>> = { '04d2162f': 'TLS', '00030000': 'plain' };

/** Returns the kind of the first request of a connection. */
async function firstRequest(parameters: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const server = createServer((socket) => {
    socket.once('data', (octets) => {
      resolve(REQUESTS[octets.subarray(4, 8).toString('hex')]);
      socket.destroy();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const pool = openPool(`postgres://me@127.0.0.1:${(server.address() as AddressInfo).port}/mail${parameters}`, 1);
  const queried = pool.unsafe('SELECT 1').catch(() => undefined);
  const request = await promise;
  await pool.end({ timeout: 0 });
  await queried;
  server.close();
  return request;
}

test('sslmode decides whether TLS is asked for', async () => {
  expect(await firstRequest('?sslmode=disable')).toBe('plain');
  expect(await firstRequest('?sslmode=require')).toBe('TLS');
  expect(await firstRequest('?sslmode=verify-full')).toBe('TLS');
  expect(await firstRequest('')).toBe('plain');
});

test('certificates are checked as in libpq, by the authority of sslrootcert, which the server never gets', () => {
  const directory = mkdtempSync(join(tmpdir(), 'mailstead-test-'));
  const ca = join(directory, 'ca.pem');
  writeFileSync(ca, 'an authority');
  const options = (parameters: string) => tlsOf(`${URL_OF}?${parameters}`);
  expect(options('sslmode=require')).toMatchObject({ rejectUnauthorized: false });
  expect(options(`sslmode=require&sslrootcert=${ca}`)).toMatchObject({ rejectUnauthorized: true });
  expect(options('sslmode=verify-ca')).toMatchObject({
    rejectUnauthorized: true,
    checkServerIdentity: expect.anything(),
  });
  const full = options(`sslmode=verify-full&sslrootcert=${ca}`);
  expect(full).toEqual({ rejectUnauthorized: true, ca: Buffer.from('an authority') });
  expect(tlsOf('postgres://me@192.0.2.1/mail?sslmode=verify-full')).toMatchObject({ host: '192.0.2.1' });
  expect(connectionAddress(`${URL_OF}?sslmode=verify-full&sslrootcert=${ca}`).href).toBe(URL_OF);
  rmSync(directory, { recursive: true });
});

test('what would not be encrypted without a word is refused', () => {
  expect(tlsProblem(URL_OF)).toContain('would not be encrypted');
  expect(tlsProblem(`${URL_OF}?sslmode=prefer`)).toContain('may go on without encryption');
  expect(tlsProblem(`${URL_OF}?sslmode=verify-full&sslrootcert=/nowhere`)).toContain('Cannot read');
  for (const url of [
    `${URL_OF}?sslmode=disable`,
    `${URL_OF}?sslmode=verify-full`,
    'postgres://me@localhost/mail',
    'postgres://me@127.0.0.1/mail',
    'postgres://me@localhost/mail?host=/run/postgresql',
  ]) {
    expect(tlsProblem(url), url).toBeUndefined();
  }
});
