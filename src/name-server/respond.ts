import {
  type Answer,
  AUTHORITATIVE_ANSWER,
  decode,
  DNSSEC_OK,
  encode,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
} from 'dns-packet';
import { CODES, type DnsResponse, plainResponse } from './answers.ts';
import { signedResponse } from './dnssec/signed-response.ts';
import type { ZoneSigner } from './dnssec/zone-signer.ts';
import type { FindZone } from './zone.ts';

const HEADER = 12;
/** Octets; no legitimate query is longer. */
const MAX_QUERY = 1024;
/** RFC 1035 4.2.1: limit without EDNS. */
const PLAIN_UDP = 512;
/** Avoids IP fragmentation and limits amplification to forged addresses. RFC 9715 3. */
export const MAX_UDP = 1232;
const MAX_TCP = 65_535;

/** RFC 6891 9: above the four bits of the header; the rest is in the OPT record. */
const BADVERS = 16;

interface Query {
  id: number;
  recursionDesired: boolean;
  question: { name: string; type: string; class: string };
  /** Undefined: no EDNS. */
  edns: { version: number; size: number; dnssecOk: boolean } | undefined;
}

/**
 * Responds to one packet. Ignores anything but queries: two servers that answer each other's errors never stop. Never throws;
 * nothing over UDP is larger than {@link MAX_UDP}. `signer`: signs for clients that want it. RFC 1035, RFC 6891, RFC 4035 3.1.
 */
export async function respond(
  packet: Buffer,
  way: 'udp' | 'tcp',
  find: FindZone,
  signer?: ZoneSigner,
): Promise<Buffer | undefined> {
  if (packet.length < HEADER || packet.length > MAX_QUERY) return undefined;
  const flags = packet.readUInt16BE(2);
  if ((flags & 0x8000) !== 0) return undefined;
  if (((flags >> 11) & 15) !== 0) return bare(packet, CODES.NOTIMP);
  const query = read(packet);
  if (query === undefined) return bare(packet, CODES.FORMERR);
  // The library would write another class into the response than was queried.
  if (query.question.class.startsWith('UNKNOWN')) return bare(packet, CODES.REFUSED);
  try {
    return write(query, await answer(query, find, signer), way);
  } catch {
    return bare(packet, CODES.SERVFAIL);
  }
}

/** Parses exactly one question, with an OPT record at most; undefined for anything else. */
function read(packet: Buffer): Query | undefined {
  const counts = [4, 6, 8, 10].map((at) => packet.readUInt16BE(at));
  // Must precede decoding: the library allocates as many records as the header promises.
  if (counts[0] !== 1 || counts[1] !== 0 || counts[2] !== 0 || (counts[3] ?? 0) > 2) return undefined;
  try {
    const { id = 0, questions = [], additionals = [], flag_rd: recursionDesired } = decode(packet);
    const question = questions[0];
    const opt = additionals.filter((one) => one.type === 'OPT');
    if (question === undefined || opt.length > 1) return undefined;
    const edns = opt[0] && {
      version: opt[0].ednsVersion,
      size: opt[0].udpPayloadSize,
      dnssecOk: opt[0].flag_do,
    };
    const name = question.name === '.' ? '' : question.name;
    return { id, recursionDesired, question: { name, type: question.type, class: question.class ?? 'IN' }, edns };
  } catch {
    return undefined;
  }
}

async function answer({ question, edns }: Query, find: FindZone, signer: ZoneSigner | undefined): Promise<DnsResponse> {
  const nothing = { authoritative: false, answers: [], authorities: [] };
  if (edns !== undefined && edns.version !== 0) return { ...nothing, code: BADVERS };
  const { name, type } = question;
  // Refuses zone transfers, other classes and foreign names: this is no resolver.
  if (question.class !== 'IN' || type === 'AXFR' || type === 'IXFR') return { ...nothing, code: CODES.REFUSED };
  const zone = await find(name.toLowerCase());
  if (zone === undefined) return { ...nothing, code: CODES.REFUSED };
  if (signer === undefined) return plainResponse(zone, name, type);
  return signedResponse({ zone, name, type, dnssecOk: edns?.dnssecOk ?? false }, find, signer);
}

function write(query: Query, response: DnsResponse, way: 'udp' | 'tcp'): Buffer {
  const { id, recursionDesired, question, edns } = query;
  const max = way === 'tcp' ? MAX_TCP : Math.min(MAX_UDP, Math.max(PLAIN_UDP, edns?.size ?? PLAIN_UDP));
  const flags =
    (response.code & 15) |
    (response.authoritative ? AUTHORITATIVE_ANSWER : 0) |
    (recursionDesired ? RECURSION_DESIRED : 0);
  const head = {
    type: 'response' as const,
    id,
    questions: [question as never],
    additionals: edns && [opt(response.code, edns.dnssecOk)],
  };
  const whole = encode({ ...head, flags, answers: [...response.answers], authorities: [...response.authorities] });
  // RFC 2181 9: no partial response; the client retries over TCP.
  return whole.length <= max ? whole : encode({ ...head, flags: flags | TRUNCATED_RESPONSE });
}

/** RFC 3225 3: the DO bit is copied from the query. */
function opt(code: number, dnssecOk: boolean): Answer {
  return {
    name: '.',
    type: 'OPT',
    udpPayloadSize: MAX_UDP,
    extendedRcode: code >> 4,
    ednsVersion: 0,
    flags: dnssecOk ? DNSSEC_OK : 0,
    flag_do: dnssecOk,
    options: [],
  } as never;
}

/** Response with only a header, to a packet that cannot be parsed. */
function bare(packet: Buffer, code: number): Buffer {
  const header = Buffer.alloc(HEADER);
  packet.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8000 | (packet.readUInt16BE(2) & 0x7900) | code, 2);
  return header;
}

/** Truncated response (TC): the client retries over TCP, which a forged address cannot. Undefined for anything but queries. */
export function truncatedResponse(packet: Buffer): Buffer | undefined {
  if (packet.length < HEADER || packet.length > MAX_QUERY) return undefined;
  const flags = packet.readUInt16BE(2);
  if ((flags & 0xf800) !== 0) return undefined;
  const query = read(packet);
  if (query === undefined || query.question.class.startsWith('UNKNOWN')) return undefined;
  try {
    return encode({
      type: 'response',
      id: query.id,
      questions: [query.question as never],
      flags: TRUNCATED_RESPONSE | (query.recursionDesired ? RECURSION_DESIRED : 0),
    });
  } catch {
    return undefined;
  }
}
