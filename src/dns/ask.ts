import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { decode, type DecodedPacket, encode, type Packet } from 'dns-packet';
import { LARGEST_UDP } from './respond.ts';

/** A name server of somebody else. */
export interface Place {
  ip: string;
  port: number;
}

/** Of one try, ms: whoever asks has asked others at the same time. */
const WAIT_MS = 1500;
const TRIES = 2;

/**
 * Asks one server for the name servers of a domain, without recursion: over UDP, and over TCP what does not fit.
 * Undefined when no answer to just this question came. Never rejects. RFC 1035 4.2, RFC 7766.
 */
export async function askServer(at: Place, name: string, waitMs = WAIT_MS): Promise<DecodedPacket | undefined> {
  for (let tries = 0; tries < TRIES; tries++) {
    const said = await overUdp(at, question(name), waitMs);
    if (said !== undefined) return said.flag_tc ? overTcp(at, question(name), waitMs) : said;
  }
  return undefined;
}

interface Question {
  id: number;
  name: string;
  packet: Buffer;
}

/** Each with a number and a port of its own: whoever forges an answer has to guess both. RFC 5452 4. */
function question(name: string): Question {
  const id = randomInt(65_536);
  const opt = { type: 'OPT', name: '.', udpPayloadSize: LARGEST_UDP, extendedRcode: 0, ednsVersion: 0, flags: 0 };
  const packet = {
    type: 'query',
    id,
    flags: 0,
    questions: [{ name, type: 'NS', class: 'IN' }],
    additionals: [{ ...opt, flag_do: false, options: [] }],
  };
  return { id, name, packet: encode(packet as Packet) };
}

function overUdp(at: Place, asked: Question, waitMs: number): Promise<DecodedPacket | undefined> {
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
      const said = answerTo(asked, packet);
      if (said !== undefined) end(said);
    });
    socket.on('connect', () => {
      if (!closed) socket.send(asked.packet, (error) => error && end(undefined));
    });
    socket.connect(at.port, at.ip);
  });
}

function overTcp(at: Place, asked: Question, waitMs: number): Promise<DecodedPacket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: at.ip, port: at.port });
    const late = setTimeout(() => socket.destroy(), waitMs);
    let said: DecodedPacket | undefined;
    let read = Buffer.alloc(0);
    socket.on('connect', () => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(asked.packet.length);
      socket.write(Buffer.concat([length, asked.packet]));
    });
    socket.on('data', (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      if (read.length < 2 || read.length < 2 + read.readUInt16BE(0)) return;
      said = answerTo(asked, read.subarray(2, 2 + read.readUInt16BE(0)));
      socket.destroy();
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
function answerTo({ id, name }: Question, packet: Buffer): DecodedPacket | undefined {
  try {
    const said = decode(packet);
    const [first, more] = said.questions ?? [];
    const mine = said.id === id && said.type === 'response' && more === undefined && first?.type === 'NS';
    return mine && first.name.toLowerCase() === name ? said : undefined;
  } catch {
    return undefined;
  }
}
