import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Box, startBox } from '../support/box.ts';

const CORE = 'urn:ietf:params:jmap:core';

let box: Box;
let port: number;
let base: string;
let authorization: string;
let account: string;

beforeAll(async () => {
  box = await startBox();
  port = box.port('http');
  base = `http://127.0.0.1:${port}`;
  authorization = `Basic ${Buffer.from(`${box.address}:${box.password}`).toString('base64')}`;
  const session = (await (await fetch(`${base}/jmap/session`, { headers: { authorization } })).json()) as {
    accounts: object;
  };
  [account = ''] = Object.keys(session.accounts);
});
afterAll(() => box[Symbol.asyncDispose]());

const echo = (args: object): string => JSON.stringify({ using: [CORE], methodCalls: [['Core/echo', args, '0']] });

async function keep(octets: string): Promise<string> {
  const sent = await fetch(`${base}/jmap/upload/${account}`, {
    method: 'POST',
    headers: { authorization },
    body: octets,
  });
  return ((await sent.json()) as { blobId: string }).blobId;
}

async function raw(text: string, halfOpen = false): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: halfOpen });
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

test('a request that offers HTTP/2 is answered in HTTP/1.1', async () => {
  const body = echo({ a: 1 });
  const headers = { authorization, 'content-type': 'application/json', connection: 'Upgrade', upgrade: 'h2c' };
  const sent = request(`${base}/jmap/api`, { method: 'POST', headers }).end(body);
  const [response] = (await once(sent, 'response')) as [{ statusCode: number }];
  expect(response.statusCode).toBe(200);
  sent.destroy();
});

const UPGRADE =
  'GET /jmap/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

/** Everything until the answer with this status; throws if the server closes the connection before. */
async function until(status: number, text: string): Promise<string[]> {
  const socket = await raw(text);
  let heard = '';
  for await (const octets of socket as AsyncIterable<Buffer>) {
    heard += octets.toString();
    if (heard.includes(`HTTP/1.1 ${status} `)) return heard.match(/HTTP\/1.1 \d+/g) ?? [];
  }
  throw new Error(`closed after ${heard}`);
}

test('a WebSocket upgrade that is pipelined behind a request does not end the server', async () => {
  const first = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
  expect(await until(401, first + UPGRADE)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401']);
  // Node answers these two itself.
  await until(417, `GET / HTTP/1.1\r\nHost: x\r\nExpect: y\r\n\r\n${UPGRADE}`);
  await until(400, `GET / HTTP/1.1\r\n\r\n${UPGRADE}`);
  expect(await until(200, first)).toEqual(['HTTP/1.1 200']);
});

test('a refused socket is closed, even if the client does not close', async () => {
  const head = 'GET /jmap/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
  const socket = await raw(head, true);
  let answer = '';
  socket.on('data', (data: Buffer) => (answer += data.toString()));
  await once(socket, 'end');
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  // A reset shows that the server closed both directions.
  const reset = once(socket, 'error');
  const timer = setInterval(() => socket.write('x'), 20);
  expect(await reset).toMatchObject([{ code: expect.stringMatching(/^(?:EPIPE|ECONNRESET)$/) as string }]);
  clearInterval(timer);
});

test('unread responses count against the concurrency limit', async () => {
  const all = { resultOf: '0', name: 'Core/echo', path: '/long' };
  const body = JSON.stringify({
    using: [CORE],
    methodCalls: [
      ['Core/echo', { long: 'x'.repeat(9_000_000) }, '0'],
      ['Core/echo', { '#a': all }, '1'],
      ['Core/echo', { '#a': all }, '2'],
    ],
  });
  const head = `POST /jmap/api HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`;
  const silent: Socket[] = [];
  for (let i = 0; i < 4; i++) {
    const socket = await raw(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
    silent.push(socket);
    // The response has started; the rest stays unread.
    await once(socket, 'readable');
  }
  const more = await fetch(`${base}/jmap/api`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: echo({}),
  });
  expect(await more.json()).toMatchObject({ limit: 'maxConcurrentRequests' });
  for (const socket of silent) socket.destroy();
});

test('names of downloads may be long, and types odd', async () => {
  const blob = await keep('abc');
  const name = `${'n'.repeat(180)}%2Fx.txt`;
  const odd = `${base}/jmap/download/${account}/${blob}/${name}?accept=${encodeURIComponent('text/plain\r\n;x')}`;
  const found = await fetch(odd, { headers: { authorization } });
  expect([found.status, found.headers.get('content-type'), await found.text()]).toEqual([
    200,
    'application/octet-stream',
    'abc',
  ]);
  expect(found.headers.get('content-disposition')).toContain('n%2Fx.txt');
  const head = await fetch(`${base}/jmap/download/${account}/${blob}/x`, {
    method: 'HEAD',
    headers: { authorization },
  });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '3']);
});

test('a HEAD request to the event source does not stay open', async () => {
  const url = `${base}/jmap/eventsource?types=*&closeafter=no&ping=0`;
  expect((await fetch(url, { method: 'HEAD', headers: { authorization } })).status).toBe(405);
});

test('two concurrent WebSocketPushEnable give each change once, and none after WebSocketPushDisable', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/jmap/ws`, 'jmap', { headers: { authorization } });
  await once(socket, 'open');
  const heard: { '@type': string }[] = [];
  socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString()) as { '@type': string }));
  const say = (message: object): void => socket.send(JSON.stringify(message));
  const answered = async (): Promise<void> => {
    say({ '@type': 'Request', using: [CORE], methodCalls: [['Core/echo', {}, '0']] });
    while (heard.at(-1)?.['@type'] !== 'Response') await once(socket, 'message');
    heard.pop();
  };
  for (let i = 0; i < 3; i++) say({ '@type': 'WebSocketPushEnable', dataTypes: null });
  await answered();
  const deliver = async (): Promise<void> => {
    const using = [CORE, 'urn:ietf:params:jmap:mail'];
    const methodCalls = [['Mailbox/set', { accountId: account, create: { k: { name: `n${Math.random()}` } } }, '0']];
    const headers = { authorization, 'content-type': 'application/json' };
    await fetch(`${base}/jmap/api`, { method: 'POST', headers, body: JSON.stringify({ using, methodCalls }) });
  };
  await deliver();
  while (heard.length === 0) await once(socket, 'message');
  await answered();
  expect(heard.map((one) => one['@type'])).toEqual(['StateChange']);
  socket.close();
});

test('an aborted upload leaves nothing and logs no error', async () => {
  const socket = await raw(
    `POST /jmap/upload/${account} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Length: 5000000\r\n\r\n`,
  );
  const files = async (): Promise<string[]> =>
    (await readdir(join(box.dataDir, 'blobs'), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  socket.write(Buffer.alloc(2_000_000));
  await expect.poll(files).toHaveLength(1);
  socket.destroy();
  await expect.poll(files).toEqual([]);
  expect(box.log.filter(({ msg }) => msg === 'an HTTP request failed')).toEqual([]);
});

test('an event source above the limit is disconnected', async () => {
  const open = `GET /jmap/eventsource?types=*&closeafter=no&ping=0 HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`;
  const sockets: Socket[] = [];
  for (let i = 0; i < 101; i++) {
    const socket = await raw(open);
    sockets.push(socket);
    await once(socket, 'data');
  }
  const [first] = sockets;
  if (first?.closed === false) await once(first, 'close');
  for (const socket of sockets) socket.destroy();
});

test('unresponsive clients do not delay the shutdown', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/jmap/ws`, 'jmap', { headers: { authorization } });
  await once(socket, 'open');
  socket.pause();
  const stream = await raw(
    `GET /jmap/eventsource?types=*&closeafter=no&ping=0 HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`,
    true,
  );
  await once(stream, 'readable');
  stream.on('error', () => undefined);
  socket.on('error', () => undefined);
  await box.restart();
  socket.terminate();
  stream.destroy();
});

test('messages that WebSocket clients do not end count as memory of their login', async () => {
  await using small = await startBox({ settings: { MEMORY: '256' } });
  const address = `ws://127.0.0.1:${small.port('http')}/jmap/ws`;
  const open = async (): Promise<WebSocket> => {
    const socket = new WebSocket(address, 'jmap', { headers: { authorization } });
    socket.on('error', () => undefined);
    await once(socket, 'open');
    return socket;
  };
  const closed: number[] = [];
  const sockets = await Promise.all(Array.from({ length: 6 }, open));
  for (const [i, socket] of sockets.entries()) {
    socket.once('close', () => closed.push(i));
    socket.send(' '.repeat(9_000_000), { fin: false });
  }
  // A sixth of 256 MB is for clients, and half of it for one login.
  await expect.poll(() => closed.length).toBeGreaterThanOrEqual(4);
  for (const socket of sockets) socket.terminate();
  const whole = await open();
  whole.send(JSON.stringify({ '@type': 'Request', using: [CORE], methodCalls: [['Core/echo', {}, '0']] }));
  const [answer] = (await once(whole, 'message')) as [Buffer];
  expect(JSON.parse(answer.toString())).toMatchObject({ '@type': 'Response' });
  whole.terminate();
});

// RFC 8887 4.3: the answers to several requests come in any order.
test('a long answer over a WebSocket arrives whole, whatever is answered beside it', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/jmap/ws`, 'jmap', { headers: { authorization } });
  await once(socket, 'open');
  const answers: { requestId: string; methodResponses: [string, { text: string }][] }[] = [];
  socket.on('message', (octets: Buffer) => answers.push(JSON.parse(octets.toString()) as (typeof answers)[0]));
  const long = '<\u0000>'.repeat(500_000);
  for (const [id, text] of Object.entries({ a: long, b: 'short' })) {
    const methodCalls = [['Core/echo', { text }, '0']];
    socket.send(JSON.stringify({ '@type': 'Request', id, using: [CORE], methodCalls }));
  }
  await expect.poll(() => answers.length).toBe(2);
  const texts = answers.map(({ requestId, methodResponses }) => [requestId, methodResponses[0]?.[1].text]);
  expect(Object.fromEntries(texts)).toEqual({ a: long, b: 'short' });
  socket.terminate();
});
