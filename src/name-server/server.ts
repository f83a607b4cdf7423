import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv6, type Server, type Socket, isIPv4 } from 'node:net';
import type { Log, Meter } from '../../mail/log.ts';
import type { ZoneSigner } from './dnssec/zone-signer.ts';
import { truncatedResponse, respond } from './respond.ts';
import type { FindZone } from './zone.ts';
import { KeyedTokenBucket } from '../../mail/limits/token-bucket.ts';

/** Queries of one network: a burst of 200, and 100 a second. A large provider's resolver sends fewer. */
const QUERIES = { capacity: 200, periodMs: 2_000, refill: 'continuous' } as const;
const MAX_NETWORKS = 10_000;

/** Limits responses by network, so that this server cannot be used to flood a victim whose address was forged. */
export class ResponseRateLimiter {
  readonly #queries = new KeyedTokenBucket(QUERIES, MAX_NETWORKS);
  readonly #now: () => number;
  #over = 0;

  /** `now` gives monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Above the limit every fourth response is truncated, so that a real client retries over TCP. */
  take(ip: string): 'answer' | 'truncate' | 'drop' {
    if (this.#queries.take(networkOf(ip), this.#now()) === 0) return 'answer';
    this.#over += 1;
    return this.#over % 4 === 0 ? 'truncate' : 'drop';
  }
}

/** Key of an IPv4 /24 or IPv6 /56. */
function networkOf(ip: string): string {
  const plain = ip.startsWith('::ffff:') ? ip.slice(7) : ip;
  if (isIPv4(plain)) return plain.slice(0, plain.lastIndexOf('.'));
  const groups = plain.split('%')[0]?.split(':') ?? [];
  const gap = groups.indexOf('');
  const whole = gap === -1 ? groups : [...groups.slice(0, gap), ...Array<string>(9 - groups.length).fill('0')];
  return whole
    .slice(0, 4)
    .map((group, i) => Number.parseInt(group === '' ? '0' : group, 16) & (i === 3 ? 0xff00 : 0xffff))
    .join(':');
}

export interface DnsOptions {
  hosts: readonly string[];
  /** 0: a free port, the same for UDP and TCP and all hosts. */
  port: number;
  find: FindZone;
  /** Left out: the zones are not signed. */
  signer?: ZoneSigner;
  log: Log;
  meter: Meter;
  /** Time until the next whole query on a connection, ms. */
  idleTimeoutMs?: number;
}

export interface DnsServer {
  readonly port: number;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 100;
const MAX_PER_PEER = 10;
/** RFC 7766 6.2.3: a few seconds of idle time. */
const IDLE_TIMEOUT_MS = 10_000;
/** Octets of pipelined queries buffered on one connection. */
const MAX_BUFFER = 4096;

/** Opens the name server on every host, over UDP and TCP. Rejects when a port is taken. */
export async function startDns(options: DnsOptions): Promise<DnsServer> {
  const open: { close(): Promise<void> }[] = [];
  try {
    let { port } = options;
    for (const host of options.hosts) {
      const tcp = await openTcp(host, port, options);
      open.push(tcp);
      // A port that is free over TCP is mostly free over UDP too; if not, the bind below fails.
      port = tcp.port;
      open.push(await openUdp(host, port, options));
    }
    return { port, close: async () => void (await Promise.all(open.map((one) => one.close()))) };
  } catch (error) {
    await Promise.all(open.map((one) => one.close()));
    throw error;
  }
}

async function openUdp(host: string, port: number, options: DnsOptions): Promise<{ close(): Promise<void> }> {
  const { find, signer, meter, log } = options;
  const socket: UdpSocket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', ipv6Only: isIPv6(host) });
  const limiter = new ResponseRateLimiter(() => performance.now());
  let closed = false;
  const send = (answer: Buffer | undefined, to: { address: string; port: number }): void => {
    meter.count('dns_queries_total', { way: 'udp', outcome: outcomeOf(answer) });
    // Port 0 cannot be sent to; only a forged packet has it. A closed socket throws.
    if (answer !== undefined && to.port !== 0 && !closed) socket.send(answer, to.port, to.address, () => undefined);
  };
  socket.on('message', (packet, from) => {
    switch (limiter.take(from.address)) {
      case 'answer':
        void respond(packet, 'udp', find, signer).then((answer) => send(answer, from));
        break;
      case 'truncate':
        send(truncatedResponse(packet), from);
        break;
      case 'drop':
        send(undefined, from);
        break;
    }
  });
  try {
    socket.bind(port, host);
    await once(socket, 'listening');
  } catch (error) {
    socket.close();
    throw error;
  }
  socket.on('error', (error) => log.warn({ err: error }, 'name server error over UDP'));
  return {
    async close() {
      closed = true;
      socket.close();
      await once(socket, 'close');
    },
  };
}

async function openTcp(
  host: string,
  port: number,
  options: DnsOptions,
): Promise<{ port: number; close(): Promise<void> }> {
  const peers = new Map<Socket, string>();
  const limiter = new ResponseRateLimiter(() => performance.now());
  const server: Server = createServer((socket) => {
    const ip = socket.remoteAddress ?? '';
    const same = [...peers.values()].filter((one) => one === ip).length;
    if (peers.size >= MAX_CONNECTIONS || same >= MAX_PER_PEER) {
      socket.destroy();
      return;
    }
    peers.set(socket, ip);
    socket.on('close', () => peers.delete(socket));
    // A signature for each made-up name costs ten times the CPU of a plain response.
    serveConnection(socket, options, () => limiter.take(ip) === 'answer');
  });
  server.listen({ port, host, ipv6Only: isIPv6(host) });
  await once(server, 'listening');
  // For example: too many open files.
  server.on('error', (error) => options.log.warn({ err: error }, 'name server error over TCP'));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of peers.keys()) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Serves queries with a length prefix, one after another, while `mayAnswer` allows it. RFC 1035 4.2.2. */
function serveConnection(
  socket: Socket,
  { find, signer, meter, idleTimeoutMs: patienceMs = IDLE_TIMEOUT_MS }: DnsOptions,
  mayAnswer: () => boolean,
): void {
  let waiting = Buffer.alloc(0);
  let busy = false;
  // Not refreshed by each octet: a slow client could hold one of the few connections for hours.
  const late = setTimeout(() => socket.destroy(), patienceMs);
  socket.on('close', () => clearTimeout(late));
  socket.on('error', () => socket.destroy());
  const work = async (): Promise<void> => {
    busy = true;
    for (let packet = next(); packet !== undefined && !socket.destroyed; packet = next()) {
      const answer = mayAnswer() ? await respond(packet, 'tcp', find, signer) : undefined;
      meter.count('dns_queries_total', { way: 'tcp', outcome: outcomeOf(answer) });
      if (answer === undefined) {
        socket.destroy();
        break;
      }
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.length);
      // Closes the connection of a client that does not read: responses would pile up here.
      if (!socket.write(Buffer.concat([length, answer]))) socket.destroy();
      if (!socket.destroyed) late.refresh();
    }
    busy = false;
  };
  const next = (): Buffer | undefined => {
    if (waiting.length < 2 || waiting.length < 2 + waiting.readUInt16BE(0)) return undefined;
    const end = 2 + waiting.readUInt16BE(0);
    const packet = waiting.subarray(2, end);
    waiting = waiting.subarray(end);
    return packet;
  };
  socket.on('data', (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    if (waiting.length > MAX_BUFFER) socket.destroy();
    else if (!busy) void work();
  });
}

const OUTCOMES = ['answered', 'bad', 'failed', 'no-such-name', 'unknown', 'refused'];

function outcomeOf(answer: Buffer | undefined): string {
  return answer === undefined ? 'dropped' : (OUTCOMES[answer.readUInt8(3) & 15] ?? 'other');
}
