import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { residentOctets } from '../support/faults.ts';
import { type Held, holdMany, letGo } from '../support/held-sockets.ts';
import { Wire } from '../support/wire.ts';

/** For a busy machine, whose timers are late: who is closed at once ends the wait. */
const GRACE_MS = 30_000;
const DRIP_MS = 3000;
const PATIENCE_MS = 30_000;
/** Time that a client may read nothing. */
const STALLED_MS = 60_000;

interface User {
  address: string;
  password: string;
}

/** Sends an octet to all now and then until all are closed or the time is up, in ms; answers who is open then. */
async function drip(held: readonly Held[], octet: string, longestMs: number): Promise<Held[]> {
  const open = (): Held[] => held.filter(({ closedAt }) => closedAt === undefined);
  const late = performance.now() + longestMs;
  while (open().length > 0 && performance.now() < late) {
    for (const { socket } of open()) socket.write(octet);
    await delay(DRIP_MS);
  }
  return open();
}

// Both wait for time to pass: at the same time, each on a box of its own. In local mode loopback has no limits of its own,
// so what ends these connections is time.
test.concurrent(
  '2,000 connections that send an octet now and then are all closed in time, and the endpoint answers meanwhile',
  async () => {
    await using box = await startBox();
    const many = (count: number, door: 'imaps' | 'submissions' | 'https' | 'http') =>
      holdMany(count, () => ({ from: '127.0.0.1', port: box.port(door) }));
    const handshakes = [
      ...(await many(500, 'imaps')),
      ...(await many(400, 'submissions')),
      ...(await many(500, 'https')),
    ];
    const headers = await many(600, 'http');
    for (const { socket } of headers) socket.write('GET / HTTP/1.1\r\nX-Slow: ');
    // A record of TLS begins so; the rest of it never comes.
    for (const { socket } of handshakes) socket.write(Buffer.from([0x16, 3, 1, 2, 0, 1]));
    const [inHandshake, inHeader] = await Promise.all([
      drip(handshakes, '\u0001', 15_000 + GRACE_MS + DRIP_MS),
      drip(headers, 'a', 30_000 + GRACE_MS + DRIP_MS),
      greeted(box),
    ]);
    const longest = (all: readonly Held[]): number =>
      Math.round(Math.max(...all.map(({ openedAt, closedAt = 0 }) => closedAt - openedAt)) / 1000);
    await letGo([...inHandshake, ...inHeader]);
    expect([inHandshake.length, inHeader.length]).toEqual([0, 0]);
    console.log(`handshakes ended after ${longest(handshakes)} s at most, headers after ${longest(headers)} s`);
  },
);

async function greeted(box: Box): Promise<void> {
  using wire = await Wire.open(box.port('smtp'));
  expect(await wire.reply()).toMatch(/^220 /);
  expect(await wire.command('EHLO client.example')).toMatch(/^250/);
}

const OCTETS = 25_000_000;

async function deliverLarge(box: Box, to: string): Promise<void> {
  using wire = await Wire.open(box.port('smtp'), { patienceMs: PATIENCE_MS });
  await wire.reply();
  await wire.command('EHLO client.example');
  await wire.command('MAIL FROM:<a@remote.example>');
  await wire.command(`RCPT TO:<${to}>`);
  await wire.command('DATA');
  // Like mail, or it would be junk.
  wire.send(`From: a@remote.example\r\nTo: ${to}\r\nSubject: Plans\r\nDate: ${new Date().toUTCString()}\r\n`);
  wire.send(`Message-ID: <${to.replace('@', '.')}@remote.example>\r\n\r\n`);
  const line = `${'x'.repeat(998)}\r\n`;
  for (let sent = 0; sent < OCTETS; sent += 1000 * line.length) wire.send(line.repeat(1000));
  wire.send('\r\n.\r\n');
  expect(await wire.reply()).toMatch(/^250 /);
}

test.concurrent(
  '200 clients that ask for 25 MB and do not read cost little, and are dropped a minute later',
  async () => {
    await using box = await startBox();
    const users: User[] = [];
    for (let i = 0; i < 5; i++) {
      const user = (await box.ask('add_mailbox', { address: `u${i}@box.test` })) as User;
      await deliverLarge(box, user.address);
      users.push(user);
    }
    const paths = await Promise.all(users.map((user) => downloadOf(box, user)));
    const [memory, descriptors] = [await residentOctets(box.pid), await open(box.pid)];
    using clients = new DisposableStack();
    for (let i = 0; i < 100; i++) {
      const user = users[i % users.length];
      if (user === undefined) throw new Error('nobody is there');
      clients.use(await fetching(box, user));
      clients.use(await downloading(box, user, paths[i % paths.length] ?? ''));
    }
    expect(await open(box.pid)).toBeGreaterThanOrEqual(descriptors + 200);
    let most = 0;
    const late = performance.now() + STALLED_MS + GRACE_MS + 10_000;
    while ((await open(box.pid)) > descriptors + 20 && performance.now() < late) {
      most = Math.max(most, (await residentOctets(box.pid)) - memory);
      await delay(500);
    }
    // They do not read, so only the server knows that it has cut them off.
    expect(await open(box.pid)).toBeLessThanOrEqual(descriptors + 20);
    expect(most / 1e6).toBeLessThan(300);
    await greeted(box);
    console.log(`200 slow readers: ${Math.round(most / 1e6)} MB more`);
  },
);

/** Descriptors that a process has open. */
async function open(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

/** An IMAP client that fetches the large message and reads nothing of it. */
async function fetching(box: Box, { address, password }: User): Promise<Wire> {
  const wire = await Wire.open(box.port('imap'), { patienceMs: PATIENCE_MS });
  await wire.line();
  wire.send(`a LOGIN ${address} ${password}\r\n`);
  expect(await wire.line()).toMatch(/^a OK /);
  wire.send('b STATUS INBOX (MESSAGES)\r\n');
  expect(await wire.line()).toBe('* STATUS INBOX (MESSAGES 1)');
  wire.deaf();
  wire.send('c SELECT INBOX\r\nd FETCH 1 (BODY.PEEK[])\r\n');
  return wire;
}

function authorizationOf({ address, password }: User): string {
  return `Basic ${Buffer.from(`${address}:${password}`).toString('base64')}`;
}

/** Where the large message of a user is downloaded. */
async function downloadOf(box: Box, user: User): Promise<string> {
  const base = `http://127.0.0.1:${box.port('http')}`;
  const headers = { authorization: authorizationOf(user), 'content-type': 'application/json' };
  const session = (await (await fetch(`${base}/jmap/session`, { headers })).json()) as { accounts: object };
  const [accountId = ''] = Object.keys(session.accounts);
  const methodCalls = [
    ['Email/query', { accountId }, 'q'],
    [
      'Email/get',
      { accountId, properties: ['blobId'], '#ids': { resultOf: 'q', name: 'Email/query', path: '/ids' } },
      'g',
    ],
  ];
  const using = ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail'];
  const sent = await fetch(`${base}/jmap/api`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ using, methodCalls }),
  });
  const { methodResponses } = (await sent.json()) as { methodResponses: [string, { list?: { blobId: string }[] }][] };
  return `/jmap/download/${accountId}/${methodResponses[1]?.[1].list?.[0]?.blobId}/mail.eml`;
}

/** A download of which nothing is read. */
async function downloading(box: Box, user: User, path: string): Promise<Disposable> {
  const socket = connect({ host: '127.0.0.1', port: box.port('http') });
  await once(socket, 'connect');
  socket.on('error', () => undefined).pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorizationOf(user)}\r\n\r\n`);
  return { [Symbol.dispose]: () => void socket.destroy() };
}
