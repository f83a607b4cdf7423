import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Address, formatAddress, parseAddress } from '../message/address.ts';

const DAY_MS = 24 * 3_600_000;
/** Days that a rewritten sender is good for: mail is tried for five, and its bounce as long again. */
const GOOD_FOR = 14;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const HASH_CHARACTERS = 10;

/**
 * The envelope sender of a forwarded message: an address of the forwarding domain, in which the original one stands with
 * a day and a MAC, so that bounces find their way back and nobody else can use it. After the Sender Rewriting Scheme
 * (SRS0); what was rewritten elsewhere before is packed whole, so that each hop undoes its own. Undefined when it does
 * not fit into a local part (RFC 5321 4.5.3.1.1: 64 octets).
 */
export function rewriteSender(sender: Address, domain: string, key: Buffer, now: number): Address | undefined {
  const day = dayOf(now);
  const rest = `${day}=${sender.domain}=${sender.local}`;
  const local = `SRS0=${mac(key, rest)}=${rest}`;
  return Buffer.byteLength(local) > 64 ? undefined : parseAddress(formatAddress({ local, domain }));
}

/** The original sender, when this is one of ours and still good. */
export function originalSender(address: Address, key: Buffer, now: number): Address | undefined {
  const match = /^srs0=([a-z2-7]{10})=(([a-z2-7]{2})=([^=]+)=(.+))$/i.exec(address.local);
  const [, given, rest, day, domain, local] = match ?? [];
  if (given === undefined || rest === undefined || day === undefined) return undefined;
  const right = Buffer.from(mac(key, rest));
  // Servers on the way may have changed the case of the local part, but not what it means.
  if (!timingSafeEqual(right, Buffer.from(given.toLowerCase())) || !isGood(day, now)) return undefined;
  return parseAddress(formatAddress({ local: local ?? '', domain: domain ?? '' }));
}

/** Whether a local part is of the rewritten kind, ours or not. */
export function looksRewritten(local: string): boolean {
  return /^srs[01][=+-]/i.test(local);
}

/** Days since 1970 in two digits of 32. */
function dayOf(now: number): string {
  const day = Math.floor(now / DAY_MS) % 1024;
  return `${BASE32[day >> 5]}${BASE32[day & 31]}`;
}

function isGood(day: string, now: number): boolean {
  const written = BASE32.indexOf(day[0]?.toLowerCase() ?? '') * 32 + BASE32.indexOf(day[1]?.toLowerCase() ?? '');
  const age = ((Math.floor(now / DAY_MS) % 1024) - written + 1024) % 1024;
  return age <= GOOD_FOR;
}

/** Over the text without regard to case. */
function mac(key: Buffer, text: string): string {
  const digest = createHmac('sha256', key).update(text.toLowerCase()).digest();
  return [...digest.subarray(0, HASH_CHARACTERS)].map((octet) => BASE32[octet & 31]).join('');
}
