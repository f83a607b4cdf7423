import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { decode, encode, streamEncode } from 'dns-packet';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { type DnsServer, startDns } from '../../../src/name-server/server.ts';
import type { FindZone } from '../../../src/name-server/zone.ts';
import { freePort } from '../../support/free-port.ts';

const HUGE = 'x'.repeat(3_000);
const zone = { apex: 'd.example', server: 'mail.box.example', exists: true };
/** Questions for it are answered when the test says so. */
let gate: PromiseWithResolvers<void>;
const find: FindZone = async (name) => {
  if (name === 'slow.d.example') await gate.promise;
  if (name !== 'd.example' && !name.endsWith('.d.example')) return undefined;
  return { ...zone, records: [{ type: 'TXT', value: name === 'huge.d.example' ? HUGE : 'v=spf1 mx ~all' }] };
};

let server: DnsServer;
const counted: string[] = [];
const meter = {
  ...quiet,
  count: (_: string, labels: Record<string, string> = {}) => void counted.push(Object.values(labels).join(' ')),
};
// A port that the kernel gives is free over TCP, and may be anybody's over UDP.
const open = async (hosts: string[], port?: number, patienceMs?: number): Promise<DnsServer> =>
  startDns({
    hosts,
    port: port ?? (await freePort()),
    find,
    log: quiet,
    meter,
    ...(patienceMs !== undefined && { idleTimeoutMs: patienceMs }),
  });

beforeEach(async () => {
  gate = Promise.withResolvers();
  counted.length = 0;
  server = await open(['127.0.0.1'], undefined, 500);
});
afterEach(() => server.close());

const question = (name: string, id = 7) => ({
  type: 'query' as const,
  id,
  questions: [{ name, type: 'TXT' as const }],
});

/** Sends a packet and answers what comes back within a while. */
async function overUdp(packet: Uint8Array, waitMs = 5_000): Promise<Buffer | undefined> {
  const socket = createSocket('udp4');
  try {
    socket.send(packet, server.port, '127.0.0.1');
    const [said] = (await once(socket, 'message', { signal: AbortSignal.timeout(waitMs) })) as [Buffer];
    return said;
  } catch {
    return undefined;
  } finally {
    socket.close();
  }
}

async function dial(): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** So many whole answers. */
async function answers(socket: Socket, count: number): Promise<Buffer[]> {
  const said: Buffer[] = [];
  let all = Buffer.alloc(0);
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    all = Buffer.concat([all, chunk as Buffer]);
    while (all.length >= 2 && all.length >= 2 + all.readUInt16BE(0)) {
      said.push(all.subarray(2, 2 + all.readUInt16BE(0)));
      all = all.subarray(2 + all.readUInt16BE(0));
    }
    if (said.length >= count) break;
  }
  return said;
}

test('what does not fit into UDP is fetched over TCP', async () => {
  const cut = await overUdp(encode(question('huge.d.example')));
  expect(decode(cut ?? Buffer.alloc(0))).toMatchObject({ id: 7, flag_tc: true, answers: [] });
  const socket = await dial();
  socket.write(streamEncode(question('huge.d.example')));
  const [whole] = await answers(socket, 1);
  const [answer] = decode(whole ?? Buffer.alloc(0)).answers ?? [];
  expect(Buffer.concat((answer as { data: Buffer[] }).data).toString()).toBe(HUGE);
  socket.destroy();
});

test('questions that come at once, or octet by octet, are answered in turn on one connection', async () => {
  const socket = await dial();
  socket.write(Buffer.concat([1, 2, 3].map((id) => streamEncode(question('d.example', id)))));
  expect((await answers(socket, 3)).map((one) => decode(one).id)).toEqual([1, 2, 3]);
  for (const octet of streamEncode(question('d.example', 4))) {
    socket.write(Buffer.from([octet]));
    await new Promise(setImmediate);
  }
  expect((await answers(socket, 1)).map((one) => decode(one).id)).toEqual([4]);
  socket.destroy();
});

test('an answer is never answered, and rubbish gets at most a header', async () => {
  const response = encode({ ...question('d.example'), type: 'response' });
  expect(await overUdp(response, 200)).toBeUndefined();
  expect(await overUdp(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toHaveLength(12);
  expect(await overUdp(Buffer.alloc(0), 200)).toBeUndefined();
});

test('a flood over UDP is slowed down, and the server goes on', async () => {
  const socket = createSocket('udp4');
  const packet = encode(question('d.example'));
  // A busy machine loses many of them before the server.
  const dropped = async (): Promise<number> => {
    for (let i = 0; i < 500; i++) {
      socket.send(packet, server.port, '127.0.0.1');
      if (i % 50 === 0) await new Promise(setImmediate);
    }
    return counted.filter((one) => one === 'udp dropped').length;
  };
  await expect.poll(dropped).toBeGreaterThan(100);
  socket.close();
  const tcp = await dial();
  tcp.write(streamEncode(question('d.example')));
  expect(await answers(tcp, 1)).toHaveLength(1);
  tcp.destroy();
});

test('a flood over TCP ends its connection, and others are answered once the network has asked less', async () => {
  const tcp = await dial();
  const packet = streamEncode(question('d.example'));
  const flood = setInterval(() => {
    for (let i = 0; i < 20; i++) tcp.write(packet);
  }, 1);
  tcp.resume();
  // Its end may also be an error, as it writes while the server closes.
  await new Promise((resolve) => tcp.once('close', resolve));
  clearInterval(flood);
  const answered = counted.filter((one) => one === 'tcp answered').length;
  expect(answered).toBeGreaterThanOrEqual(200);
  expect(counted.filter((one) => one === 'tcp dropped')).toHaveLength(1);
  const again = async (): Promise<number> => {
    const late = await dial();
    late.write(packet);
    return (await answers(late, 1)).length;
  };
  await expect.poll(again).toBe(1);
});

describe('connections', () => {
  const closed = (socket: Socket, ms: number): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), ms);
    if (socket.closed) resolve(true);
    socket.resume().once('close', () => resolve(true));
    return promise.finally(() => clearTimeout(timer));
  };

  test('one peer has at most ten, and the eleventh is let in when one is gone', async () => {
    const ten = await Promise.all(Array.from({ length: 10 }, dial));
    expect(await closed(await dial(), 1_000)).toBe(true);
    ten[0]?.destroy();
    const queried = async (): Promise<number> => {
      const late = await dial();
      late.write(streamEncode(question('d.example')));
      return (await answers(late, 1)).length;
    };
    // The server learns a little later that the first one is gone.
    await expect.poll(queried).toBe(1);
    for (const socket of ten) socket.destroy();
  });

  test('that say nothing end', async () => {
    expect(await closed(await dial(), 3_000)).toBe(true);
  });

  test('that send a question octet by octet and never all of it end as well', async () => {
    const socket = await dial();
    const drip = setInterval(() => socket.write(Buffer.from([0])), 100);
    socket.write(Buffer.from([4]));
    try {
      expect(await closed(socket, 3_000)).toBe(true);
    } finally {
      clearInterval(drip);
    }
  });

  test('that ask now and then are kept', async () => {
    await server.close();
    server = await open(['127.0.0.1'], undefined, 2_000);
    const socket = await dial();
    for (let id = 1; id <= 5; id++) {
      socket.write(streamEncode(question('d.example', id)));
      expect(await answers(socket, 1)).toHaveLength(1);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    socket.destroy();
  });

  test.each<[string, Buffer]>([
    ['more at once than anybody asks', Buffer.alloc(100_000, 1)],
    ['a length of 65,535', Buffer.concat([Buffer.from([255, 255]), Buffer.alloc(4_200)])],
    ['a length of nothing', Buffer.from([0, 0])],
    ['an answer', streamEncode({ ...question('d.example'), type: 'response' })],
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: d.example\r\n\r\n')],
  ])('that send %s end', async (_, octets) => {
    const socket = await dial();
    socket.write(octets);
    expect(await closed(socket, 3_000)).toBe(true);
  });

  test('whoever asks on and reads nothing is not served on', async () => {
    const socket = await dial();
    socket.pause();
    const packet = streamEncode(question('huge.d.example'));
    const flood = setInterval(() => {
      for (let i = 0; i < 20; i++) socket.write(packet);
    }, 1);
    await expect.poll(() => socket.errored?.message).toMatch(/ECONNRESET|EPIPE/);
    clearInterval(flood);
    socket.destroy();
  });
});

test('a server that closes while questions wait leaves nothing behind and says nothing after it', async () => {
  const udp = createSocket('udp4');
  udp.send(encode(question('slow.d.example')), server.port, '127.0.0.1');
  const tcp = await dial();
  tcp.write(streamEncode(question('slow.d.example')));
  // A question that is answered shows that the one before it has arrived.
  expect(await overUdp(encode(question('d.example')))).toBeDefined();
  const failures: unknown[] = [];
  const note = (error: unknown): void => void failures.push(error);
  process.on('unhandledRejection', note);
  try {
    await server.close();
    gate.resolve();
    await new Promise((resolve) => setTimeout(resolve, 50));
  } finally {
    process.off('unhandledRejection', note);
    udp.close();
    tcp.destroy();
  }
  expect(failures).toEqual([]);
  server = await open(['127.0.0.1']);
});

test('a port that is taken is an error, and nothing stays open', async () => {
  await expect(open(['127.0.0.1'], server.port)).rejects.toThrow(/EADDRINUSE/);
  const port = await freePort();
  const taken = createSocket('udp4');
  taken.bind(port, '127.0.0.1');
  await once(taken, 'listening');
  await expect(open(['127.0.0.1'], port)).rejects.toThrow(/EADDRINUSE/);
  taken.close();
  await once(taken, 'close');
  const again = await open(['127.0.0.1'], port);
  await again.close();
});
