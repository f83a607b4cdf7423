import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv6, type Server, type Socket } from 'node:net';
import type { Log, Meter } from '../../mail/log.ts';
import { Pace } from './pace.ts';
import { askOverTcp, respond } from './respond.ts';
import type { FindZone } from './zone.ts';

export interface DnsOptions {
  hosts: readonly string[];
  /** 0 takes a free one, the same for both ways and all hosts. */
  port: number;
  find: FindZone;
  log: Log;
  meter: Meter;
  /** So long may a connection take for its next whole question, ms. */
  patienceMs?: number;
}

export interface DnsServer {
  readonly port: number;
  close(): Promise<void>;
}

const MOST_CONNECTIONS = 100;
const MOST_OF_ONE_PEER = 10;
/** RFC 7766 6.2.3: seconds are enough for who has a question. */
const PATIENCE_MS = 10_000;
/** Questions of one connection that wait for their answers. */
const LONGEST_BUFFER = 4096;

/** Opens the name server on every host, over UDP and TCP. Rejects when a port is taken. */
export async function startDns(options: DnsOptions): Promise<DnsServer> {
  const open: { close(): Promise<void> }[] = [];
  try {
    let { port } = options;
    for (const host of options.hosts) {
      const tcp = await openTcp(host, port, options);
      open.push(tcp);
      // A free port is free over TCP; that it is free over UDP too is likely and found out now.
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
  const { find, meter, log } = options;
  const socket: UdpSocket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', ipv6Only: isIPv6(host) });
  const pace = new Pace(() => performance.now());
  let closed = false;
  const say = (answer: Buffer | undefined, to: { address: string; port: number }): void => {
    meter.count('dns_queries_total', { way: 'udp', outcome: outcomeOf(answer) });
    // A port of 0 cannot be sent to, and only a forged packet has it. A closed socket throws.
    if (answer !== undefined && to.port !== 0 && !closed) socket.send(answer, to.port, to.address, () => undefined);
  };
  socket.on('message', (packet, from) => {
    switch (pace.take(from.address)) {
      case 'answer':
        void respond(packet, 'udp', find).then((answer) => say(answer, from));
        break;
      case 'tcp':
        say(askOverTcp(packet), from);
        break;
      case 'silence':
        say(undefined, from);
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
  socket.on('error', (error) => log.warn({ err: error }, 'the name server met an error over UDP'));
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
  const server: Server = createServer((socket) => {
    const ip = socket.remoteAddress ?? '';
    const same = [...peers.values()].filter((one) => one === ip).length;
    if (peers.size >= MOST_CONNECTIONS || same >= MOST_OF_ONE_PEER) {
      socket.destroy();
      return;
    }
    peers.set(socket, ip);
    socket.on('close', () => peers.delete(socket));
    converse(socket, options);
  });
  server.listen({ port, host, ipv6Only: isIPv6(host) });
  await once(server, 'listening');
  // Such as: no more files may be open.
  server.on('error', (error) => options.log.warn({ err: error }, 'the name server met an error over TCP'));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of peers.keys()) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Questions with their length in front, answered one after another. RFC 1035 4.2.2. */
function converse(socket: Socket, { find, meter, patienceMs = PATIENCE_MS }: DnsOptions): void {
  let waiting = Buffer.alloc(0);
  let busy = false;
  // Not for each octet: there are few places, and somebody could hold one for hours with a question that never ends.
  const late = setTimeout(() => socket.destroy(), patienceMs);
  socket.on('close', () => clearTimeout(late));
  socket.on('error', () => socket.destroy());
  const work = async (): Promise<void> => {
    busy = true;
    for (let packet = next(); packet !== undefined && !socket.destroyed; packet = next()) {
      const answer = await respond(packet, 'tcp', find);
      meter.count('dns_queries_total', { way: 'tcp', outcome: outcomeOf(answer) });
      if (answer === undefined) {
        socket.destroy();
        break;
      }
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.length);
      // Who asks and does not read is not served on: the answers would pile up here.
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
    if (waiting.length > LONGEST_BUFFER) socket.destroy();
    else if (!busy) void work();
  });
}

const OUTCOMES = ['answered', 'bad', 'failed', 'no-such-name', 'unknown', 'refused'];

function outcomeOf(answer: Buffer | undefined): string {
  return answer === undefined ? 'dropped' : (OUTCOMES[answer.readUInt8(3) & 15] ?? 'other');
}
