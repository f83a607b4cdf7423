import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import {
  AUTHENTIC_DATA,
  type DecodedPacket,
  DNSSEC_OK,
  encode,
  type Packet,
  type RecordType,
  RECURSION_DESIRED,
} from 'dns-packet';
import { decodePacket } from './packet.ts';

/** A name server. */
export interface NameServer {
  ip: string;
  port: number;
}

export interface DnsQuestion {
  /** In lower case. */
  name: string;
  type: RecordType;
  /** Requests recursion and DNSSEC validation. RFC 4035 3.2, RFC 6840 5.7. */
  recurse: boolean;
}

/** Octets of a UDP packet, small enough to avoid IP fragmentation. */
const MAX_UDP_OCTETS = 1232;
const MAX_ATTEMPTS = 2;
/** Octets of a TCP response. */
const MAX_TCP_OCTETS = 65_535;

interface EncodedQuery {
  id: number;
  question: DnsQuestion;
  packet: Buffer;
}

/**
 * Sends one query to one server over UDP, and over TCP when the response is truncated. `waitMs`: timeout of one attempt.
 * Undefined without a matching response. Never rejects. RFC 1035 4.2, RFC 7766.
 */
export async function queryServer(
  server: NameServer,
  question: DnsQuestion,
  waitMs: number,
): Promise<DecodedPacket | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const query = encodeQuery(question);
    if (query === undefined) break;
    const response = await overUdp(server, query, waitMs);
    if (response !== undefined) return response.flag_tc ? overTcp(server, query, waitMs) : response;
  }
  return undefined;
}

/**
 * Encodes a query. Each attempt has a random id and a new port, so that a forged response has to guess both. RFC 5452 4.
 * Undefined for a name that cannot be encoded.
 */
function encodeQuery(question: DnsQuestion): EncodedQuery | undefined {
  const { name, type, recurse } = question;
  const id = randomInt(65_536);
  const opt = { type: 'OPT', name: '.', udpPayloadSize: MAX_UDP_OCTETS, extendedRcode: 0, ednsVersion: 0 };
  const packet = {
    type: 'query',
    id,
    flags: recurse ? RECURSION_DESIRED | AUTHENTIC_DATA : 0,
    questions: [{ name, type, class: 'IN' }],
    additionals: [{ ...opt, flags: recurse ? DNSSEC_OK : 0, flag_do: recurse, options: [] }],
  };
  try {
    return { id, question, packet: encode(packet as Packet) };
  } catch {
    return undefined;
  }
}

function overUdp(server: NameServer, query: EncodedQuery, waitMs: number): Promise<DecodedPacket | undefined> {
  return new Promise((resolve) => {
    // A connected socket: the kernel drops packets from other addresses.
    const socket = createSocket(isIPv6(server.ip) ? 'udp6' : 'udp4');
    let closed = false;
    const timer = setTimeout(() => end(undefined), waitMs);
    const end = (response: DecodedPacket | undefined): void => {
      clearTimeout(timer);
      resolve(response);
      if (!closed) socket.close();
      closed = true;
    };
    socket.on('error', () => end(undefined));
    socket.on('message', (packet) => {
      const response = decodeResponse(query, packet);
      if (response !== undefined) end(response);
    });
    socket.on('connect', () => {
      if (!closed) socket.send(query.packet, (error) => error && end(undefined));
    });
    socket.connect(server.port, server.ip);
  });
}

function overTcp(server: NameServer, query: EncodedQuery, waitMs: number): Promise<DecodedPacket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: server.ip, port: server.port });
    const timer = setTimeout(() => socket.destroy(), waitMs);
    let response: DecodedPacket | undefined;
    // Allocated once: joining the chunks would copy all of them for each octet of a server that sends single ones.
    const read = Buffer.allocUnsafe(2 + MAX_TCP_OCTETS);
    let size = 0;
    socket.on('connect', () => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(query.packet.length);
      socket.write(Buffer.concat([length, query.packet]));
    });
    socket.on('data', (chunk: Buffer) => {
      if (size + chunk.length > read.length) return void socket.destroy();
      size += chunk.copy(read, size);
      if (size < 2 || size < 2 + read.readUInt16BE(0)) return undefined;
      response = decodeResponse(query, read.subarray(2, 2 + read.readUInt16BE(0)));
      return void socket.destroy();
    });
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(response);
    });
  });
}

/** Decodes a packet; undefined when it does not match the query. */
function decodeResponse({ id, question }: EncodedQuery, packet: Buffer): DecodedPacket | undefined {
  try {
    const response = decodePacket(packet);
    const [first, more] = response.questions ?? [];
    const matches =
      response.id === id && response.type === 'response' && more === undefined && first?.type === question.type;
    return matches && first.name.toLowerCase() === question.name ? response : undefined;
  } catch {
    return undefined;
  }
}
