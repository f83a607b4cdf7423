import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Address, formatAddress, parseAddress } from '../message/address.ts';

const DAY_MS = 24 * 3_600_000;
/** Validity of a rewritten sender, days: mail is retried for five days, and its bounce for five more. */
const VALID_DAYS = 14;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const HASH_CHARACTERS = 10;

/**
 * Rewrites the envelope sender of a forwarded message (Sender Rewriting Scheme, SRS0): an address of the forwarding domain
 * that contains the original sender, a day and a MAC, so that bounces can be returned and nobody can forge it. A sender
 * already rewritten elsewhere is wrapped whole. Undefined when it does not fit into a local part (RFC 5321 4.5.3.1.1:
 * 64 octets).
 */
export function rewriteSender(sender: Address, domain: string, key: Buffer, now: number): Address | undefined {
  const day = dayOf(now);
  const rest = `${day}=${sender.domain}=${sender.local}`;
  const local = `SRS0=${mac(key, rest)}=${rest}`;
  return Buffer.byteLength(local) > 64 ? undefined : parseAddress(formatAddress({ local, domain }));
}

/** The original sender of our own, still valid rewritten address. */
export function originalSender(address: Address, key: Buffer, now: number): Address | undefined {
  const match = /^srs0=([a-z2-7]{10})=(([a-z2-7]{2})=([^=]+)=(.+))$/i.exec(address.local);
  const [, given, rest, day, domain, local] = match ?? [];
  if (given === undefined || rest === undefined || day === undefined) return undefined;
  const right = Buffer.from(mac(key, rest));
  // Other servers may have changed the case of the local part.
  if (!timingSafeEqual(right, Buffer.from(given.toLowerCase())) || !isValidDay(day, now)) return undefined;
  return parseAddress(formatAddress({ local: local ?? '', domain: domain ?? '' }));
}

/** True for an SRS local part, ours or not. */
export function isSrsLocalPart(local: string): boolean {
  return /^srs[01][=+-]/i.test(local);
}

/** Days since 1970 modulo 1024, in two base32 digits. */
function dayOf(now: number): string {
  const day = Math.floor(now / DAY_MS) % 1024;
  return `${BASE32[day >> 5]}${BASE32[day & 31]}`;
}

function isValidDay(day: string, now: number): boolean {
  const written = BASE32.indexOf(day[0]?.toLowerCase() ?? '') * 32 + BASE32.indexOf(day[1]?.toLowerCase() ?? '');
  const age = ((Math.floor(now / DAY_MS) % 1024) - written + 1024) % 1024;
  return age <= VALID_DAYS;
}

/** MAC of the lower-case text. */
function mac(key: Buffer, text: string): string {
  const digest = createHmac('sha256', key).update(text.toLowerCase()).digest();
  return [...digest.subarray(0, HASH_CHARACTERS)].map((octet) => BASE32[octet & 31]).join('');
}
