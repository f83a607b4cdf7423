import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { fetchClient } from '../../../src/oauth/client-document.ts';
import { Clients } from '../../../src/oauth/clients.ts';
import { testCertificate } from '../../support/certificate.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';
import { testWorld } from '../../support/world.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const CALLBACK = 'https://app.example.com/cb';

/** A host that serves what `document` makes of its URL. */
async function host(answer: (id: string) => RequestListener): Promise<{ id: string; queried: () => number }> {
  let count = 0;
  let id = '';
  const port = await listening(
    createServer((request, response) => {
      count++;
      answer(id)(request, response);
    }),
  );
  id = `http://127.0.0.1:${port}/client.json`;
  return { id, queried: () => count };
}

const json =
  (value: unknown, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json', ...headers })
      .end(typeof value === 'string' ? value : JSON.stringify(value));

const sound = (id: string): object => ({ client_id: id, client_name: 'An app', redirect_uris: [CALLBACK] });

/** As on a box whose operator allows what is on this machine; `zone` is what the DNS says. */
function requesting(id: string, zone: FakeZone = {}, all = true, timeoutMs = 5_000) {
  const allowed = { all, networks: [], endpoints: [] };
  return fetchClient(id, { resolver: fakeResolver(zone), allowed, timeoutMs });
}

describe('a metadata document', () => {
  test('says who the client is, and its host answers for it', async () => {
    const { id } = await host((own) => json(sound(own)));
    expect(await requesting(id)).toEqual({
      client: { id, name: 'An app', redirectUris: [CALLBACK], host: new URL(id).host },
    });
  });

  test.each<[string, (id: string) => RequestListener, string]>([
    [
      'of another client',
      () => json(sound('https://app.example.com/client.json')),
      'its document names another client_id',
    ],
    ['without a client_id', () => json({ redirect_uris: [CALLBACK] }), 'its document names another client_id'],
    [
      'with a secret',
      (id) => json({ ...sound(id), client_secret: 'x' }),
      'its document contains a client_secret, which is public there',
    ],
    [
      'with a key of its own',
      (id) => json({ ...sound(id), token_endpoint_auth_method: 'private_key_jwt' }),
      'its token_endpoint_auth_method is not supported',
    ],
    ['without a place to go back to', (id) => json({ client_id: id }), 'redirect_uris must list 1 to 20 URIs'],
    ['that is no JSON', () => json('{"client_id"'), 'its document is not JSON'],
    ['nested without an end', () => json('['.repeat(5_000)), 'its document is not JSON'],
    ['as a page', (id) => json(sound(id), { 'content-type': 'text/html' }), 'its document is not served as JSON'],
    [
      'that is too large',
      (id) => json({ ...sound(id), x: 'x'.repeat(17_000) }),
      'its document is larger than 16384 octets',
    ],
    [
      'that leads elsewhere',
      (id) => (_request, response) => void response.writeHead(302, { location: `${id}?2` }).end(),
      'its host returned status 302; redirects are not followed',
    ],
    [
      'that is not there',
      () => (_request, response) => void response.writeHead(404).end(),
      'its host returned status 404; redirects are not followed',
    ],
    ['of a host that hangs up', () => (request) => void request.destroy(), 'its host is unreachable'],
  ])('%s is none', async (_name, answer, problem) => {
    const { id } = await host(answer);
    expect(await requesting(id)).toEqual({ problem });
  });

  test('that never ends is given up, whether it drips or is silent', async () => {
    const silent = await host(() => () => undefined);
    expect(await requesting(silent.id, {}, true, 200)).toEqual({ problem: 'its host did not answer in time' });
    const timers: NodeJS.Timeout[] = [];
    const dripping = await host(() => (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      timers.push(setInterval(() => void response.write(' '), 20));
    });
    expect(await requesting(dripping.id, {}, true, 200)).toEqual({ problem: 'its host did not answer in time' });
    timers.forEach(clearInterval);
  });

  test('is not asked for where the certificate is not good', async () => {
    const { cert, key } = await testCertificate('app.test');
    const queried = vi.fn<RequestListener>();
    const port = await listening(createTlsServer({ cert, key }, queried));
    expect(await requesting(`https://127.0.0.1:${port}/c`)).toEqual({ problem: 'its host is unreachable' });
    expect(queried).not.toHaveBeenCalled();
  });
});

describe('a place that this box does not go to for a stranger', () => {
  const ZONE: FakeZone = {
    'A inside.example': ['127.0.0.1'],
    'A metadata.example': ['169.254.169.254'],
    'A mixed.example': ['192.0.2.1', '10.0.0.1'],
    'AAAA mapped.example': ['::ffff:127.0.0.1'],
    'A down.example': 'trouble',
  };
  test.each([
    ['https://127.0.0.1/c', /private address/],
    ['https://[::1]/c', /private address/],
    ['https://localhost/c', /private address/],
    ['https://169.254.169.254/latest/meta-data', /private address/],
    ['https://inside.example/c', /private address/],
    ['https://metadata.example/c', /private address/],
    ['https://mixed.example/c', /private address/],
    ['https://mapped.example/c', /private address/],
    ['https://nowhere.example/c', /does not exist/],
    ['https://down.example/c', /cannot be looked up/],
    ['http://93.184.216.34/c', /must be https/],
    ['https://93.184.216.34:22/c', /Port 22/],
    ['https://93.184.216.34', /not a canonical URL/],
    ['https://93.184.216.34/', /has no path/],
    ['https://0x7f.1/c', /not a canonical URL/],
    ['https://app.example.com/a/../b', /not a canonical URL/],
    ['https://me@app.example.com/c', /user name/],
    ['https://app.example.com/c#x', /fragment/],
  ])('%s', async (id, problem) => {
    const found = await requesting(id, ZONE, false);
    expect(found).toEqual({ problem: expect.stringMatching(problem) as unknown });
  });
});

describe('who clients are', () => {
  const NEAR = { all: true, networks: [], endpoints: [] };

  test('is asked once in a quarter of an hour, and by one of all who ask at the same time', async () => {
    await using made = await testWorld();
    const settings = { ...made.world.settings, allowPrivateNetworks: NEAR };
    const clients = new Clients({ ...made.world, settings });
    const { id, queried } = await host((own) => json(sound(own)));
    await Promise.all([1, 2, 3].map(() => clients.find(id, 1)));
    made.store.clock.now += 15 * 60_000 - 1;
    await clients.find(id, 1);
    expect(queried()).toBe(1);
    made.store.clock.now += 1;
    expect(await clients.find(id, 1)).toHaveProperty('client');
    expect(queried()).toBe(2);
  });

  test('is no service that the operator allows for webhooks', async () => {
    await using made = await testWorld();
    const { id, queried } = await host((own) => json(sound(own)));
    const endpoints = [{ host: '127.0.0.1', port: Number(new URL(id).port) }];
    const settings = { ...made.world.settings, allowPrivateNetworks: { all: false, networks: [], endpoints } };
    const found = await new Clients({ ...made.world, settings }).find(id, 1);
    expect(found).toEqual({ problem: expect.stringContaining('private address') as unknown });
    expect(queried()).toBe(0);
  });

  test('is asked again soon when it went wrong, and not all the time', async () => {
    await using made = await testWorld();
    const settings = { ...made.world.settings, allowPrivateNetworks: NEAR };
    const clients = new Clients({ ...made.world, settings });
    const { id, queried } = await host(() => json({}));
    for (let i = 0; i < 5; i++) expect(await clients.find(id, 1)).toHaveProperty('problem');
    expect(queried()).toBe(1);
    made.store.clock.now += 30_000;
    await clients.find(id, 1);
    expect(queried()).toBe(2);
  });

  test('is asked of eight hosts at a time, and of two by one person', async () => {
    await using made = await testWorld();
    const settings = { ...made.world.settings, allowPrivateNetworks: NEAR };
    const clients = new Clients({ ...made.world, settings });
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const { id } = await host(() => (request, response) => {
      void gate.then(() => json({})(request, response));
    });
    const two = ['a', 'b'].map((name) => clients.find(`${id}?${name}`, 9));
    expect(await clients.find(`${id}?c`, 9)).toEqual({ problem: 'too many concurrent lookups, try again later' });
    const running = Array.from({ length: 6 }, (_, i) => clients.find(`${id}?${i}`, i >> 1));
    for (const person of [1, 9])
      expect(await clients.find(`${id}?9`, person)).toEqual({
        problem: 'too many concurrent lookups, try again later',
      });
    open();
    await Promise.all([...two, ...running]);
    expect(await clients.find(`${id}?9`, 1)).not.toEqual({ problem: 'too many concurrent lookups, try again later' });
  });

  test('nobody has an id that is longer than any', async () => {
    await using made = await testWorld();
    const clients = new Clients(made.world);
    expect(await clients.find(`client_${'x'.repeat(600)}`, 1)).toEqual({ problem: 'its client_id is too long' });
    expect(await clients.find('client_x', 1)).toEqual({ problem: 'its client_id is not registered' });
  });
});
