import { DnsProviderError } from '../provider-error.ts';
import type { OwnedType } from '../zone-entry.ts';

/** Numbers of record types. RFC 1035 3.2.2, RFC 2782, RFC 6698, RFC 8659. */
export const TYPE_NUMBERS: Readonly<Record<OwnedType | 'SOA' | 'TSIG', number>> = {
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  SRV: 33,
  TLSA: 52,
  TSIG: 250,
  CAA: 257,
};
export const CLASSES = { IN: 1, NONE: 254, ANY: 255 } as const;

const MAX_NAME = 255;
const MAX_LABEL = 63;

/**
 * Encodes a name without compression, in lower case. RFC 1035 3.1, RFC 4034 6.2. A label in an answer may have any octets, dots
 * among them, so that its text is no name: that is a {@link DnsProviderError}.
 */
export function encodeName(name: string): Buffer {
  const labels = name === '' ? [] : name.toLowerCase().split('.');
  const parts = labels.map((label) => {
    const octets = Buffer.from(label, 'latin1');
    if (octets.length === 0 || octets.length > MAX_LABEL) throw noName();
    return Buffer.concat([Buffer.of(octets.length), octets]);
  });
  const whole = Buffer.concat([...parts, Buffer.of(0)]);
  if (whole.length > MAX_NAME) throw noName();
  return whole;
}

function noName(): DnsProviderError {
  const message = 'The TSIG key, or a record at the name server, has a name that is not a domain name. Correct it.';
  return new DnsProviderError('rejected', message);
}

/** Encodes the data of a record. */
export function encodeData(type: OwnedType, value: string): Buffer {
  const parts = value.split(' ');
  switch (type) {
    case 'CNAME':
      return encodeName(value);
    case 'MX':
      return Buffer.concat([uint16(Number(parts[0])), encodeName(parts[1] ?? '')]);
    case 'SRV':
      return Buffer.concat([...parts.slice(0, 3).map((part) => uint16(Number(part))), encodeName(parts[3] ?? '')]);
    case 'TXT':
      return encodeStrings(Buffer.from(value));
    case 'TLSA':
      return Buffer.concat([Buffer.of(...parts.slice(0, 3).map(Number)), Buffer.from(parts[3] ?? '', 'hex')]);
    case 'CAA': {
      const [, flags = '0', tag = '', text = ''] = /^(\d{1,3}) ([a-z0-9]+) "([^"]*)"$/.exec(value) ?? [];
      return Buffer.concat([Buffer.of(Number(flags), tag.length), Buffer.from(tag + text)]);
    }
  }
}

function encodeStrings(text: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < text.length || at === 0; at += 255) {
    const part = text.subarray(at, at + 255);
    parts.push(Buffer.of(part.length), part);
  }
  return Buffer.concat(parts);
}

interface WireRecord {
  name: string;
  type: number;
  class: number;
  ttl: number;
  data: Buffer;
}

/** Encodes a record. RFC 1035 3.2.1. */
export function encodeRecord({ name, type, class: klass, ttl, data }: WireRecord): Buffer {
  return Buffer.concat([encodeName(name), uint16(type), uint16(klass), uint32(ttl), uint16(data.length), data]);
}

/** A message of opcode UPDATE. RFC 2136 2. */
export interface UpdateMessage {
  id: number;
  zone: string;
  prerequisites: readonly WireRecord[];
  updates: readonly WireRecord[];
}

const UPDATE = 5 << 11;

export function encodeUpdate({ id, zone, prerequisites, updates }: UpdateMessage): Buffer {
  const counts = [id, UPDATE, 1, prerequisites.length, updates.length, 0].map(uint16);
  const question = Buffer.concat([encodeName(zone), uint16(TYPE_NUMBERS.SOA), uint16(CLASSES.IN)]);
  return Buffer.concat([...counts, question, ...prerequisites.map(encodeRecord), ...updates.map(encodeRecord)]);
}

/** Encodes a query without recursion. */
export function encodeQuery(id: number, name: string, type: number): Buffer {
  const header = [id, 0, 1, 0, 0, 0].map(uint16);
  return Buffer.concat([...header, encodeName(name), uint16(type), uint16(CLASSES.IN)]);
}

export function uint16(value: number): Buffer {
  const octets = Buffer.alloc(2);
  octets.writeUInt16BE(value);
  return octets;
}

function uint32(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value);
  return octets;
}
