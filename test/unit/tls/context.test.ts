import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer as createPlainServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, TLSSocket, type ConnectionOptions } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { selfSigned } from '../../../src/tls/self-signed-file.ts';
import { createTlsSource, type TlsOptions, type TlsSource } from '../../../src/tls/tls-source.ts';

const NAME = 'mail.example.com';
const DAY = 86_400_000;

let dir = '';
let errors: string[] = [];
const open: Array<{ close(): void }> = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tls-'));
  errors = [];
});
afterEach(async () => {
  for (const one of open.splice(0)) one.close();
  await rm(dir, { recursive: true });
});

async function source(options: Partial<TlsOptions> = {}): Promise<TlsSource> {
  const log = { ...quiet, error: (_: object, text: string) => void errors.push(text) };
  const made = await createTlsSource({
    certFile: undefined,
    keyFile: undefined,
    dataDir: dir,
    hostname: NAME,
    log,
    ...options,
  });
  if ('problem' in made) throw new Error(made.problem);
  return made;
}

/** Connects to a server that gets its context from the source, as the listeners do. */
async function handshake(tls: TlsSource, options: ConnectionOptions): Promise<TLSSocket> {
  const server = createPlainServer((socket) => {
    new TLSSocket(socket, { isServer: true, secureContext: tls.secureContext() }).on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  const client = connect({ port: (server.address() as AddressInfo).port, servername: NAME, ...options });
  open.push({ close: () => client.destroy() });
  await once(client, 'secureConnect');
  return client;
}

const subject = (socket: TLSSocket) => socket.getPeerX509Certificate()?.fingerprint256;
const fingerprint = (cert: string) => new X509Certificate(cert).fingerprint256;

test('a client that trusts the self-signed certificate accepts it for each of its names', async () => {
  const pair = await selfSigned([NAME, 'localhost'], ['127.0.0.1', '::1']);
  const server = createServer(pair).listen(0, '127.0.0.1');
  open.push(server);
  await once(server, 'listening');
  for (const servername of [NAME, 'localhost']) {
    const client = connect({ port: (server.address() as AddressInfo).port, ca: pair.cert, servername });
    await once(client, 'secureConnect');
    expect(client.authorized).toBe(true);
    client.destroy();
  }
  const certificate = new X509Certificate(pair.cert);
  expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(certificate.checkIP('::1')).toBeDefined();
  expect(certificate.checkHost('elsewhere.example')).toBeUndefined();
  expect(Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)).toBeLessThanOrEqual(825 * DAY);
  expect(certificate.serialNumber).not.toBe(new X509Certificate((await selfSigned([NAME], [])).cert).serialNumber);
});

describe('without files', () => {
  test('a certificate is created, readable by its owner only, and reused', async () => {
    const first = await source();
    expect(first.selfSigned).toBe(true);
    const path = join(dir, 'tls', 'self-signed.pem');
    const pem = await readFile(path, 'latin1');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(dir, 'tls'))).toEqual(['self-signed.pem']);
    expect(subject(await handshake(await source(), { ca: pem }))).toBe(
      fingerprint(pem.slice(pem.indexOf('-----BEGIN CERT'))),
    );
    expect(await readFile(path, 'latin1')).toBe(pem);
  });

  test.each<[string, Partial<TlsOptions>, (path: string) => Promise<void>]>([
    ['for another name', { hostname: 'other.example.com' }, async () => {}],
    ['about to expire', { clock: () => Date.now() + 800 * DAY }, async () => {}],
    ['damaged', {}, (path) => writeFile(path, 'nonsense')],
    ['gone', {}, (path) => rm(path)],
  ])('one that is %s is made anew', async (_, options, spoil) => {
    await source();
    const path = join(dir, 'tls', 'self-signed.pem');
    const pem = await readFile(path, 'latin1');
    await spoil(path);
    await source(options);
    expect(await readFile(path, 'latin1')).not.toBe(pem);
  });

  test('it is renewed while running', async () => {
    let now = Date.now();
    const tls = await source({ clock: () => now });
    const before = tls.secureContext();
    await tls.check();
    expect(tls.secureContext()).toBe(before);
    now += 800 * DAY;
    await tls.check();
    expect(tls.secureContext()).not.toBe(before);
  });
});

test('TLS 1.2 with AEAD and TLS 1.3 are accepted, older versions are not', async () => {
  const tls = await source();
  const client = (options: ConnectionOptions) => handshake(tls, { rejectUnauthorized: false, ...options });
  expect((await client({})).getProtocol()).toBe('TLSv1.3');
  expect((await client({ maxVersion: 'TLSv1.2' })).getCipher().name).toBe('ECDHE-ECDSA-AES128-GCM-SHA256');
  await expect(client({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' })).rejects.toThrow();
  const cbc = { maxVersion: 'TLSv1.2' as const, ciphers: 'ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA256' };
  await expect(client(cbc)).rejects.toThrow();
});

describe('with files', () => {
  let files = { certFile: '', keyFile: '' };
  let time = 1_000_000;
  async function place(pair: { cert?: string; key?: string }): Promise<void> {
    time += 1;
    const write = async (path: string, text: string) => {
      await writeFile(path, text);
      await utimes(path, time, time);
    };
    if (pair.cert !== undefined) await write(files.certFile, pair.cert);
    if (pair.key !== undefined) await write(files.keyFile, pair.key);
  }
  beforeEach(() => {
    files = { certFile: join(dir, 'cert.pem'), keyFile: join(dir, 'key.pem') };
  });

  test('changed files are reloaded, also when replaced one after the other', async () => {
    const [one, two] = [await selfSigned([NAME], []), await selfSigned([NAME], [])];
    await place(one);
    const tls = await source(files);
    expect(tls.selfSigned).toBe(false);
    await place({ cert: two.cert });
    await tls.check();
    await tls.check();
    expect(errors).toEqual(['failed to load the new certificate, keeping the old one']);
    expect(subject(await handshake(tls, { ca: one.cert }))).toBe(fingerprint(one.cert));
    await place({ key: two.key });
    await tls.check();
    expect(subject(await handshake(tls, { ca: two.cert }))).toBe(fingerprint(two.cert));
    expect(errors).toHaveLength(1);
  });

  test('broken or missing new files keep the old certificate', async () => {
    const one = await selfSigned([NAME], []);
    await place(one);
    const tls = await source(files);
    await place({ cert: 'nonsense' });
    await tls.check();
    await rm(files.certFile);
    for (let i = 0; i < 3; i += 1) await tls.check();
    expect(errors).toHaveLength(2);
    expect(subject(await handshake(tls, { ca: one.cert }))).toBe(fingerprint(one.cert));
  });

  test('unusable files at start are reported as a problem', async () => {
    const [one, two] = [await selfSigned([NAME], []), await selfSigned([NAME], [])];
    const problem = () => createTlsSource({ ...files, dataDir: dir, hostname: NAME, log: quiet });
    expect(await problem()).toEqual({
      problem: expect.stringMatching(/^The certificate cannot be used: .*cert\.pem.*\.$/),
    });
    await place({ cert: one.cert, key: two.key });
    expect(await problem()).toHaveProperty('problem');
    await place({ cert: one.key, key: one.key });
    expect(await problem()).toHaveProperty('problem');
  });
});
