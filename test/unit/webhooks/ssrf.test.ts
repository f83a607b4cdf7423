import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PrivateNetworks } from '../../../config/parse.ts';
import type { Lookup } from '../../../mail/dns/lookup.ts';
import type { WebhookEvent } from '../../../mail/store/notification/webhook-event.ts';
import { findWebhook } from '../../../src/webhooks/webhook-queries.ts';
import { checkWebhookUrl } from '../../../src/webhooks/url-check.ts';
import { type PostRequest, Poster } from '../../../src/webhooks/post.ts';
import { WebhookSender } from '../../../src/webhooks/sender.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';
import { type HookWorld, hookWorld } from '../../support/hook-world.ts';

const NOWHERE: PrivateNetworks = { all: false, networks: [], endpoints: [] };
const PUBLIC = '8.8.4.4';

/** Counts everything that reaches it, on any address of loopback. */
let forbidden: Server;
let bytes = 0;
let connections = 0;
let port: number;
let hooks: HookWorld;

beforeAll(async () => {
  forbidden = createServer((socket) => {
    connections++;
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        bytes += chunk.length;
        socket.destroy();
      });
  });
  await new Promise<void>((resolve) => forbidden.listen(0, '::', resolve));
  ({ port } = forbidden.address() as AddressInfo);
  hooks = await hookWorld();
});
afterAll(async () => {
  forbidden.close();
  await hooks[Symbol.asyncDispose]();
});
beforeEach(() => {
  bytes = 0;
  connections = 0;
});

const ZONE = {
  'A one.rebind.example': ['127.0.0.1'],
  'A mixed.example': [PUBLIC, '127.0.0.1'],
  'A mixed6.example': [PUBLIC],
  'AAAA mixed6.example': ['::1'],
  'AAAA six.example': ['::ffff:127.0.0.1'],
  'A 127.0.0.1.nip.example': ['127.0.0.1'],
  'A 127-0-0-1.sslip.example': ['127.0.0.1'],
  'A metadata.google.internal': ['169.254.169.254'],
  'A metadata.example': ['169.254.169.254'],
  'A alibaba.example': ['100.100.100.200'],
  'A ten.example': ['10.0.0.1'],
  'A zero.example': ['0.0.0.0'],
  'A cname-to-private.example': ['192.168.1.1'],
  'A multicast.example': ['224.0.0.1'],
  'A broken.example': 'trouble',
  'A public.example': [PUBLIC],
} as const;

/** Sixty ways to a place that a webhook must not reach; PORT is where the forbidden listener is. */
const URLS: readonly string[] = `
  https://127.0.0.1:PORT/ http://127.0.0.1:PORT/ https://127.1:PORT/ https://127.0.1:PORT/ https://2130706433:PORT/
  https://0x7f000001:PORT/ https://0x7f.0.0.1:PORT/ https://017700000001:PORT/ https://0177.0.0.1:PORT/
  https://0:PORT/ https://0.0.0.0:PORT/ https://127.127.127.127:PORT/ https://127.0.0.1.:PORT/
  https://[::1]:PORT/ https://[::]:PORT/ https://[0:0:0:0:0:0:0:1]:PORT/ https://[::ffff:127.0.0.1]:PORT/
  https://[::ffff:7f00:1]:PORT/ https://[::127.0.0.1]:PORT/ https://[::ffff:a9fe:a9fe]:PORT/
  https://[64:ff9b::7f00:1]:PORT/ https://[64:ff9b::127.0.0.1]:PORT/ https://[2002:7f00:1::]:PORT/
  https://[fec0::1]:PORT/ https://[fe80::1]:PORT/ https://[fc00::1]:PORT/ https://[fd00:ec2::254]:PORT/
  https://[ff02::1]:PORT/ https://169.254.169.254/latest/meta-data/ https://100.100.100.200/ https://100.64.0.1/
  https://10.0.0.1/ https://172.16.0.1/ https://192.168.0.1/ https://192.0.0.192/ https://198.18.0.1/
  https://224.0.0.1/ https://255.255.255.255/ https://localhost:PORT/ https://localhost.:PORT/
  https://LOCALHOST:PORT/ https://a.localhost:PORT/ https://one.rebind.example:PORT/ https://mixed.example:PORT/
  https://mixed6.example:PORT/ https://six.example:PORT/ https://127.0.0.1.nip.example:PORT/
  https://127-0-0-1.sslip.example:PORT/ https://metadata.google.internal/ https://metadata.example/
  https://alibaba.example/ https://cname-to-private.example/ https://broken.example/ https://nowhere.example/
  https://①②⑦.⓪.⓪.①:PORT/ https://127。0。0。1:PORT/ https://public.example\\@127.0.0.1:PORT/
  https://public.example:80@127.0.0.1:PORT/ https://127.0.0.1:PORT#@public.example/ file:///etc/passwd
  gopher://127.0.0.1:PORT/_GET unix:/run/docker.sock https://public.example%0d%0aHost:127.0.0.1:PORT/
  https://public.example:6379/ https://public.example:22/ http://public.example/ https://zero.example:PORT/
  https://multicast.example/ https://ten.example/`
  .trim()
  .split(/\s+/);

const notice: WebhookEvent = {
  id: 1,
  event: 'test',
  account: null,
  email: null,
  trace: '',
  detail: {},
  at: 0,
  attempts: 0,
  size: 0,
};

test(`I1: of ${URLS.length} URLs none is taken, and none is called that was taken before`, async () => {
  const resolver = fakeResolver(ZONE);
  const sender = new WebhookSender(hooks.options({ settings: { allowPrivateNetworks: NOWHERE }, lookNow: resolver }));
  expect(URLS.length).toBeGreaterThanOrEqual(60);
  for (const [i, template] of [...URLS, 'https://127.0.0.1:PORT/a\r\nX: y', 'https://127.0.0.1\t:PORT/'].entries()) {
    const url = template.replaceAll('PORT', String(port));
    expect(await checkWebhookUrl(url, NOWHERE, resolver), url).toHaveProperty('problem');
    const account = await hooks.mailbox(`u${i}`, url);
    const hook = await hooks.store.read(findWebhook, { account });
    const told = await sender.send(hook?.id ?? 0, { ...notice, account });
    expect(told, url).toMatchObject({ end: { kind: 'later' }, posted: { status: null }, request: '' });
  }
  sender.close();
  expect({ bytes, connections }).toEqual({ bytes: 0, connections: 0 });

  // The listener is one that can be reached: where the operator allows it, it is.
  const allowed = { allowPrivateNetworks: { ...NOWHERE, all: true } };
  const open = new WebhookSender(hooks.options({ settings: allowed, lookNow: resolver }));
  const account = await hooks.mailbox('allowed', `http://127.0.0.1:${port}/`);
  const hook = await hooks.store.read(findWebhook, { account });
  await open.send(hook?.id ?? 0, { ...notice, account });
  open.close();
  expect(bytes).toBeGreaterThan(0);
});

test('I2: a name that leads elsewhere each time it is asked for: 0 of 1,000 deliveries go to a private address', async () => {
  let queried = 0;
  const answer = (): Promise<Lookup<string>> => {
    const turn = queried++ % 4;
    const records = turn === 0 ? [PUBLIC] : turn === 1 ? ['127.0.0.1'] : turn === 2 ? [PUBLIC, '::1'] : [PUBLIC];
    return Promise.resolve({ kind: 'found', records });
  };
  const resolver = {
    ...fakeResolver({}),
    a: answer,
    aaaa: () => Promise.resolve({ kind: 'none' as const, nx: false }),
  };
  const dialled: string[] = [];
  const poster = {
    post({ ip }: PostRequest) {
      dialled.push(ip);
      return Promise.resolve({ status: 200, problem: null, response: '' });
    },
    [Symbol.dispose]() {},
  };
  const settings = { allowPrivateNetworks: NOWHERE };
  const sender = new WebhookSender(hooks.options({ settings, lookNow: resolver, poster }));
  const account = await hooks.mailbox('rebind', `https://rebind.example:${port}/`);
  const hook = await hooks.store.read(findWebhook, { account });
  for (let i = 0; i < 1000; i++) await sender.send(hook?.id ?? 0, { ...notice, account });
  expect(dialled).toHaveLength(500);
  expect(dialled.filter((ip) => ip !== PUBLIC)).toEqual([]);
  // One lookup per delivery: none between the check and the request.
  expect(queried).toBe(1000);
});

test('I2: what connects looks nothing up: the name may lead anywhere by then', async () => {
  await using receiver = await plainReceiver((_url, end) => end(200));
  using poster = new Poster();
  const url = new URL(`http://no-such-name.invalid:${receiver.port}/x`);
  const posted = await poster.post({ url, ip: '127.0.0.1', headers: {}, body: Buffer.from('{}') }, never());
  expect(posted).toMatchObject({ status: 200, problem: null });
  expect(receiver.hosts).toEqual([`no-such-name.invalid:${receiver.port}`]);
});

test('I3: of the redirects 301 to 308 none is followed', async () => {
  await using receiver = await plainReceiver((url, end) => end(Number(url.slice(1)), `http://127.0.0.1:${port}/`));
  using poster = new Poster();
  for (const status of [300, 301, 302, 303, 304, 307, 308]) {
    const url = new URL(`http://127.0.0.1:${receiver.port}/${status}`);
    const posted = await poster.post({ url, ip: '127.0.0.1', headers: {}, body: Buffer.from('{}') }, never());
    expect(posted).toMatchObject({ status, problem: 'redirects are not followed' });
  }
  expect({ bytes, connections }).toEqual({ bytes: 0, connections: 0 });
});

test('a connection that rested too long for the receiver is no failure', async () => {
  await using receiver = await plainReceiver((_url, end) => end(200));
  using poster = new Poster();
  const url = new URL(`http://127.0.0.1:${receiver.port}/`);
  for (let i = 0; i < 40; i++) {
    const posted = await poster.post({ url, ip: '127.0.0.1', headers: {}, body: Buffer.from('{}') }, never());
    expect(posted.problem).toBeNull();
    receiver.hangUp();
  }
});

const never = (): AbortSignal => new AbortController().signal;

async function plainReceiver(answer: (url: string, end: (status: number, location?: string) => void) => void) {
  const hosts: string[] = [];
  const server = createHttpServer((request, response) => {
    hosts.push(request.headers.host ?? '');
    request.resume().on('end', () =>
      answer(request.url ?? '', (status, location) => {
        response.writeHead(status, location === undefined ? {} : { location }).end();
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    hosts,
    port: (server.address() as AddressInfo).port,
    hangUp: () => server.closeIdleConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
