import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import {
  AUTHENTIC_DATA,
  decode,
  type DecodedPacket,
  DNSSEC_OK,
  encode,
  type Packet,
  type RecordType,
  RECURSION_DESIRED,
} from 'dns-packet';

/** A name server. */
export interface Place {
  ip: string;
  port: number;
}

export interface Question {
  /** In lower case. */
  name: string;
  type: RecordType;
  /** Whether the server is to look elsewhere, and to say whether what it found is signed. RFC 4035 3.2, RFC 6840 5.7. */
  recurse: boolean;
}

/** Octets that a packet over UDP may have: what goes over every road in one piece. */
const LARGEST_UDP = 1232;
const TRIES = 2;
/** Octets that an answer over TCP may have. */
const LARGEST = 65_535;

interface Sent {
  id: number;
  question: Question;
  packet: Buffer;
}

/**
 * Puts one question to one server: over UDP, and over TCP what does not fit. `waitMs` is for one try. Undefined when no
 * answer to just this question came. Never rejects. RFC 1035 4.2, RFC 7766.
 */
export async function exchange(at: Place, question: Question, waitMs: number): Promise<DecodedPacket | undefined> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const sent = packetOf(question);
    if (sent === undefined) break;
    const said = await overUdp(at, sent, waitMs);
    if (said !== undefined) return said.flag_tc ? overTcp(at, sent, waitMs) : said;
  }
  return undefined;
}

/**
 * Each with a number and a port of its own: whoever forges an answer has to guess both. RFC 5452 4. Undefined for a name
 * that cannot be written in a question.
 */
function packetOf(question: Question): Sent | undefined {
  const { name, type, recurse } = question;
  const id = randomInt(65_536);
  const opt = { type: 'OPT', name: '.', udpPayloadSize: LARGEST_UDP, extendedRcode: 0, ednsVersion: 0 };
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

function overUdp(at: Place, sent: Sent, waitMs: number): Promise<DecodedPacket | undefined> {
  return new Promise((resolve) => {
    // Connected, so that the system drops what others send.
    const socket = createSocket(isIPv6(at.ip) ? 'udp6' : 'udp4');
    let closed = false;
    const late = setTimeout(() => end(undefined), waitMs);
    const end = (said: DecodedPacket | undefined): void => {
      clearTimeout(late);
      resolve(said);
      if (!closed) socket.close();
      closed = true;
    };
    socket.on('error', () => end(undefined));
    socket.on('message', (packet) => {
      const said = answerTo(sent, packet);
      if (said !== undefined) end(said);
    });
    socket.on('connect', () => {
      if (!closed) socket.send(sent.packet, (error) => error && end(undefined));
    });
    socket.connect(at.port, at.ip);
  });
}

function overTcp(at: Place, sent: Sent, waitMs: number): Promise<DecodedPacket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: at.ip, port: at.port });
    const late = setTimeout(() => socket.destroy(), waitMs);
    let said: DecodedPacket | undefined;
    let read = Buffer.alloc(0);
    socket.on('connect', () => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(sent.packet.length);
      socket.write(Buffer.concat([length, sent.packet]));
    });
    socket.on('data', (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      if (read.length > LARGEST + 2) return void socket.destroy();
      if (read.length < 2 || read.length < 2 + read.readUInt16BE(0)) return undefined;
      said = answerTo(sent, read.subarray(2, 2 + read.readUInt16BE(0)));
      return void socket.destroy();
    });
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(late);
      resolve(said);
    });
  });
}

/** The packet as it was read when it answers this question; other packets are not for us. */
function answerTo({ id, question }: Sent, packet: Buffer): DecodedPacket | undefined {
  try {
    const said = decode(packet);
    const [first, more] = said.questions ?? [];
    const mine = said.id === id && said.type === 'response' && more === undefined && first?.type === question.type;
    return mine && first.name.toLowerCase() === question.name ? said : undefined;
  } catch {
    return undefined;
  }
}
