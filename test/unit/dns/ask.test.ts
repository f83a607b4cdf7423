import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { type Answer, decode, encode, RECURSION_DESIRED, TRUNCATED_RESPONSE } from 'dns-packet';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { queryNameServers, type NameServer } from '../../../src/name-server/ask.ts';
import { freePort } from '../../support/free-port.ts';

/** For an answer that comes: who gives it shares this event loop. */
const WAIT_MS = 5_000;
/** For none. */
const SHORT_WAIT_MS = 100;
const referral: Answer = { type: 'NS', name: 'shop.example', ttl: 60, class: 'IN', data: 'mail.box.example' };

let udp: Socket;
let tcp: Server;
let at: NameServer;
let queried: Buffer[];
/** Responses over UDP in order, and over TCP. */
let say: (query: Buffer) => Buffer[];
let sayLong: (query: Buffer) => Buffer;

beforeEach(async () => {
  queried = [];
  say = (query) => [answer(query)];
  sayLong = answer;
  tcp = createServer((client) => {
    client.on('error', () => undefined);
    client.once('data', (data: Buffer) => client.write(sayLong(data.subarray(2))));
  }).listen(await freePort(), '127.0.0.1');
  await once(tcp, 'listening');
  at = { ip: '127.0.0.1', port: (tcp.address() as AddressInfo).port };
  udp = createSocket('udp4').bind(at.port, at.ip);
  udp.on('message', (query: Buffer, from: RemoteInfo) => {
    queried.push(query);
    for (const packet of say(query)) udp.send(packet, from.port, from.address);
  });
  await once(udp, 'listening');
});
afterEach(async () => {
  udp.close();
  tcp.close();
  await once(tcp, 'close');
});

function answer(query: Buffer, flags = 0, change: object = {}): Buffer {
  const { id = 0, questions } = decode(query);
  return encode({ type: 'response', id, flags, questions, authorities: [referral], ...change } as never);
}

function framed(packet: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(packet.length);
  return Buffer.concat([length, packet]);
}

test('asks for the name servers of the domain, and for nothing to be looked up elsewhere', async () => {
  expect(await queryNameServers(at, 'shop.example', WAIT_MS)).toMatchObject({
    flag_tc: false,
    authorities: [{ type: 'NS', name: 'shop.example', data: 'mail.box.example' }],
  });
  const query = decode(queried[0] ?? Buffer.alloc(0));
  expect(query).toMatchObject({ type: 'query', questions: [{ name: 'shop.example', type: 'NS', class: 'IN' }] });
  expect((query.flags ?? 0) & RECURSION_DESIRED).toBe(0);
});

test('each question has a number of its own', async () => {
  for (let i = 0; i < 8; i++) await queryNameServers(at, 'shop.example', WAIT_MS);
  expect(new Set(queried.map((query) => query.readUInt16BE(0))).size).toBeGreaterThan(4);
});

test('what was lost once is asked again, and silence ends', async () => {
  say = (query) => (queried.length === 1 ? [] : [answer(query)]);
  expect(await queryNameServers(at, 'shop.example', WAIT_MS)).toBeDefined();
  expect(queried).toHaveLength(2);
  say = () => [];
  expect(await queryNameServers(at, 'shop.example', SHORT_WAIT_MS)).toBeUndefined();
  expect(queried).toHaveLength(4);
});

test.each([
  ['another number', (query: Buffer) => answer(query, 0, { id: (query.readUInt16BE(0) + 1) & 0xffff })],
  ['another name', (query: Buffer) => answer(query, 0, { questions: [{ name: 'x.example', type: 'NS' }] })],
  ['another type', (query: Buffer) => answer(query, 0, { questions: [{ name: 'shop.example', type: 'A' }] })],
  ['no question', (query: Buffer) => answer(query, 0, { questions: [] })],
  ['the question itself', (query: Buffer) => query],
  ['octets', () => Buffer.from('nonsense that is no packet')],
  ['nothing', () => Buffer.alloc(0)],
])('a packet with %s is not the answer, and the answer after it is', async (_, forge) => {
  say = (query) => [forge(query), answer(query)];
  expect(await queryNameServers(at, 'shop.example', WAIT_MS)).toMatchObject({
    authorities: [{ data: 'mail.box.example' }],
  });
  expect(queried).toHaveLength(1);
  say = (query) => [forge(query)];
  expect(await queryNameServers(at, 'shop.example', SHORT_WAIT_MS)).toBeUndefined();
});

test('what is cut comes over TCP', async () => {
  say = (query) => [answer(query, TRUNCATED_RESPONSE, { authorities: [] })];
  sayLong = (query) => framed(answer(query, 0, { authorities: Array.from({ length: 400 }, () => referral) }));
  expect((await queryNameServers(at, 'shop.example', WAIT_MS))?.authorities).toHaveLength(400);
});

test.each([
  ['half an answer', (query: Buffer) => framed(answer(query)).subarray(0, 30)],
  ['an answer to something else', (query: Buffer) => framed(answer(query, 0, { questions: [] }))],
  ['a length alone', () => Buffer.from([0xff, 0xff])],
])('over TCP %s is no answer', async (_, long) => {
  say = (query) => [answer(query, TRUNCATED_RESPONSE)];
  sayLong = long;
  expect(await queryNameServers(at, 'shop.example', SHORT_WAIT_MS)).toBeUndefined();
});

test('where nobody listens there is no answer, for either kind of address', async () => {
  const port = await freePort();
  for (const ip of ['127.0.0.1', '::1'])
    expect(await queryNameServers({ ip, port }, 'shop.example', 20)).toBeUndefined();
  say = (query) => [answer(query, TRUNCATED_RESPONSE)];
  tcp.close();
  expect(await queryNameServers(at, 'shop.example', SHORT_WAIT_MS)).toBeUndefined();
  tcp.listen(0);
  await once(tcp, 'listening');
});
