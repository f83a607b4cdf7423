import { createHmac, timingSafeEqual } from 'node:crypto';
import { CLASSES, encodeName, encodeRecord, TYPE_NUMBERS, uint16 } from './wire.ts';

/** A shared key. */
export interface TsigKey {
  /** In lower case, without a trailing dot. */
  name: string;
  algorithm: 'hmac-sha256' | 'hmac-sha384' | 'hmac-sha512';
  secret: Buffer;
}

/** Seconds by which the clocks of both sides may differ. RFC 8945 5.2.3. */
const FUDGE = 300;
const HEADER = 12;

/** Signs a message; returns it with its TSIG record, and the code that the response is bound to. RFC 8945 5.1. */
export function signMessage(message: Buffer, key: TsigKey, nowMs: number): { signed: Buffer; mac: Buffer } {
  const seconds = Math.floor(nowMs / 1000);
  const mac = macOf(key, [message, variables(key, seconds, 0, Buffer.alloc(0))]);
  const data = Buffer.concat([
    encodeName(key.algorithm),
    uint48(seconds),
    uint16(FUDGE),
    uint16(mac.length),
    mac,
    message.subarray(0, 2),
    uint16(0),
    uint16(0),
  ]);
  const record = encodeRecord({ name: key.name, type: TYPE_NUMBERS.TSIG, class: CLASSES.ANY, ttl: 0, data });
  const signed = Buffer.concat([message, record]);
  signed.writeUInt16BE(message.readUInt16BE(10) + 1, 10);
  return { signed, mac };
}

export type TsigVerdict = 'valid' | 'unsigned' | 'invalid' | 'bad-time';

/** Checks the response to a signed message. RFC 8945 5.3. */
export function verifyResponse(response: Buffer, key: TsigKey, requestMac: Buffer, nowMs: number): TsigVerdict {
  const found = findTsig(response);
  if (found === undefined) return 'unsigned';
  const { at, keyName, algorithm, seconds, mac, error, other } = found;
  if (keyName !== key.name || algorithm !== key.algorithm) return 'invalid';
  const message = Buffer.from(response.subarray(0, at));
  message.writeUInt16BE(message.readUInt16BE(10) - 1, 10);
  const parts = [uint16(requestMac.length), requestMac, message, variables(key, seconds, error, other, found.fudge)];
  const expected = macOf(key, parts);
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) return 'invalid';
  return Math.abs(nowMs / 1000 - seconds) > found.fudge ? 'bad-time' : 'valid';
}

function macOf({ algorithm, secret }: TsigKey, parts: readonly Buffer[]): Buffer {
  const hmac = createHmac(algorithm.slice('hmac-'.length), secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/** RFC 8945 4.3.3. */
function variables({ name, algorithm }: TsigKey, seconds: number, error: number, other: Buffer, fudge = FUDGE): Buffer {
  const head = [encodeName(name), uint16(CLASSES.ANY), Buffer.alloc(4), encodeName(algorithm)];
  return Buffer.concat([...head, uint48(seconds), uint16(fudge), uint16(error), uint16(other.length), other]);
}

interface FoundTsig {
  /** Offset of the record. */
  at: number;
  keyName: string;
  algorithm: string;
  seconds: number;
  fudge: number;
  mac: Buffer;
  error: number;
  other: Buffer;
}

/** Finds the TSIG record, which is the last one. Undefined if there is none, or the message is damaged. */
export function findTsig(message: Buffer): FoundTsig | undefined {
  try {
    return readTsig(message);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readTsig(message: Buffer): FoundTsig | undefined {
  const counts = [4, 6, 8, 10].map((at) => message.readUInt16BE(at));
  if (counts[3] === 0) return undefined;
  let at = HEADER;
  for (let left = counts[0] ?? 0; left > 0; left--) at = skipName(message, at) + 4;
  for (let left = (counts[1] ?? 0) + (counts[2] ?? 0) + (counts[3] ?? 0); left > 1; left--)
    at = skipRecord(message, at);
  const type = skipName(message, at);
  if (message.readUInt16BE(type) !== TYPE_NUMBERS.TSIG) return undefined;
  const data = type + 10;
  const time = skipName(message, data);
  const macAt = time + 10;
  const error = macAt + message.readUInt16BE(time + 8) + 2;
  return {
    at,
    keyName: readName(message, at),
    algorithm: readName(message, data),
    seconds: message.readUIntBE(time, 6),
    fudge: message.readUInt16BE(time + 6),
    mac: message.subarray(macAt, error - 2),
    error: message.readUInt16BE(error),
    other: message.subarray(error + 4, error + 4 + message.readUInt16BE(error + 2)),
  };
}

/** RFC 8945 4.2: names of the record are not compressed. */
function readName(message: Buffer, from: number): string {
  const labels: string[] = [];
  for (let at = from, size = message.readUInt8(at); size !== 0; size = message.readUInt8(at)) {
    if (size > 63) throw new RangeError('a compressed name');
    labels.push(message.toString('latin1', at + 1, at + 1 + size).toLowerCase());
    at += 1 + size;
  }
  return labels.join('.');
}

function skipName(message: Buffer, from: number): number {
  let at = from;
  for (let size = message.readUInt8(at); size !== 0; size = message.readUInt8(at)) {
    if (size >= 0xc0) return at + 2;
    at += 1 + size;
  }
  return at + 1;
}

function skipRecord(message: Buffer, from: number): number {
  const type = skipName(message, from);
  return type + 10 + message.readUInt16BE(type + 8);
}

function uint48(seconds: number): Buffer {
  const octets = Buffer.alloc(6);
  octets.writeUIntBE(seconds, 0, 6);
  return octets;
}
