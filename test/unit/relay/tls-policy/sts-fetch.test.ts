import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type StsFetchOptions, createStsFetcher } from '../../../../mail/relay/tls-policy/sts-fetch.ts';
import { type Authority, type Issued, testAuthority } from '../../../support/authority.ts';
import { fakeResolver, type FakeZone } from '../../../support/fake-resolver.ts';

const POLICY = 'version: STSv1\nmode: enforce\nmx: mx.remote.test\nmax_age: 604800\n';
const ZONE: FakeZone = { 'A mta-sts.remote.test': ['127.0.0.1'] };
const KNOWN = getCACertificates();
let authority: Authority;
let stranger: Authority;
let good: Issued;

beforeAll(async () => {
  [authority, stranger] = [await testAuthority('Known'), await testAuthority('Stranger')];
  good = await authority.issue(['mta-sts.remote.test']);
  setDefaultCACertificates([...KNOWN, authority.pem]);
});
afterAll(() => setDefaultCACertificates(KNOWN));

interface Web extends AsyncDisposable {
  port: number;
  queried: string[];
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

async function web(serve: Serve, { cert, key }: Issued = good): Promise<Web> {
  const queried: string[] = [];
  const server: Server = createServer({ cert, key }, (request, response) => {
    queried.push(`${request.headers.host?.split(':')[0]}${request.url}`);
    serve(request, response);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    queried,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const plain: Serve = (_request, response) => response.setHeader('content-type', 'text/plain').end(POLICY);

function fetcher(port: number, change: Partial<StsFetchOptions> = {}) {
  return createStsFetcher({ resolver: fakeResolver(ZONE), allowPrivate: () => true, port, ...change });
}

test('a policy is fetched from its place', async () => {
  await using server = await web(plain);
  expect(await fetcher(server.port)('remote.test')).toEqual({
    policy: { mode: 'enforce', mx: ['mx.remote.test'], maxAge: 604_800 },
    strings: ['version: STSv1', 'mode: enforce', 'mx: mx.remote.test', 'max_age: 604800'],
  });
  expect(server.queried).toEqual(['mta-sts.remote.test/.well-known/mta-sts.txt']);
});

describe('what does not count', () => {
  const served: [string, Serve, string][] = [
    ['a redirect', (_q, r) => r.writeHead(301, { location: '/policy' }).end(), 'sts-policy-fetch-error'],
    ['not found', (_q, r) => r.writeHead(404).end(POLICY), 'sts-policy-fetch-error'],
    ['no text', (_q, r) => r.setHeader('content-type', 'text/html').end(POLICY), 'sts-policy-invalid'],
    ['no type', (_q, r) => r.end(POLICY), 'sts-policy-invalid'],
    ['nonsense', (_q, r) => r.setHeader('content-type', 'text/plain').end('hello'), 'sts-policy-invalid'],
    [
      'more than 64 KiB',
      (_q, r) => r.setHeader('content-type', 'text/plain').end(`${POLICY}${'x: y\n'.repeat(14_000)}`),
      'sts-policy-fetch-error',
    ],
    ['a connection that breaks', (_q, r) => r.destroy(), 'sts-policy-fetch-error'],
  ];
  test.each(served)('%s', async (_name, serve, failure) => {
    await using server = await web(serve);
    expect(await fetcher(server.port)('remote.test')).toMatchObject({ failure });
    expect(server.queried).toHaveLength(1);
  });

  test.each([
    ['of a stranger', () => stranger.issue(['mta-sts.remote.test'])],
    ['for another name', () => authority.issue(['remote.test'])],
    ['that is old', () => authority.issue(['mta-sts.remote.test'], { notAfter: '2021-01-01' })],
  ])('a certificate %s', async (_name, issue) => {
    await using server = await web(plain, await issue());
    expect(await fetcher(server.port)('remote.test')).toMatchObject({ failure: 'sts-webpki-invalid' });
    expect(server.queried).toEqual([]);
  });

  test('silence ends', async () => {
    await using server = await web(() => undefined);
    const found = await fetcher(server.port, { timeoutMs: 200 })('remote.test');
    expect(found).toMatchObject({
      failure: 'sts-policy-fetch-error',
      why: expect.stringContaining('in time') as unknown,
    });
  });

  test('a body that never ends ends', async () => {
    await using server = await web((_q, r) => void r.setHeader('content-type', 'text/plain').write('version: STSv1\n'));
    expect(await fetcher(server.port, { timeoutMs: 200 })('remote.test')).toMatchObject({
      failure: 'sts-policy-fetch-error',
    });
  });
});

test('private addresses are not connected to', async () => {
  const seen: Socket[] = [];
  const server = createTcp((socket) => void seen.push(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const ip of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1']) {
    const type = ip.includes(':') ? 'AAAA' : 'A';
    const resolver = fakeResolver({ [`${type} mta-sts.remote.test`]: [ip] });
    const found = await fetcher(port, { resolver, allowPrivate: () => false })('remote.test');
    expect(found).toMatchObject({
      failure: 'sts-policy-fetch-error',
      why: expect.stringContaining('private') as unknown,
    });
  }
  expect(seen).toEqual([]);
  server.close();
});

test('a name without address, and a resolver that is silent', async () => {
  expect(await fetcher(1, { resolver: fakeResolver({}) })('remote.test')).toMatchObject({
    why: expect.stringContaining('no address') as unknown,
  });
  const silent = { ...fakeResolver({}), a: () => new Promise<never>(() => undefined) };
  expect(await fetcher(1, { resolver: silent, timeoutMs: 50 })('remote.test')).toMatchObject({
    failure: 'sts-policy-fetch-error',
  });
});

test('of several addresses the next is tried when one cannot be reached', async () => {
  await using server = await web(plain);
  const resolver = fakeResolver({ 'A mta-sts.remote.test': ['127.0.0.99', '127.0.0.1'] });
  expect(await fetcher(server.port, { resolver })('remote.test')).toHaveProperty('policy');
});
