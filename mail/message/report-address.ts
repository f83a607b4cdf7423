import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type Address, formatAddress, parseAddress } from './address.ts';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const MAC_CHARACTERS = 12;
/** Replacement for a local part that leaves no room for the tag. */
const SHORT_LOCAL_PART = 'bounces';

/**
 * Creates the envelope sender (VERP) of one copy of a message: the real address plus a tag with the copy number and a MAC,
 * so that a report identifies the copy. After a `+`, which greylisters ignore and other servers of the domain deliver to
 * the mailbox. RFC 5321 4.5.3.1.1: local parts have at most 64 octets, so a long one is replaced by a short word.
 */
export function reportAddress(sender: Address, copy: number, key: KeyObject): Address {
  const tag = `r${copy.toString(36)}-${mac(key, copy, sender.domain)}`;
  const tagged = fitting(`${sender.local}+${tag}`, sender.domain);
  return tagged ?? { local: `${SHORT_LOCAL_PART}+${tag}`, domain: sender.domain };
}

/** Returns the copy number of a {@link reportAddress}; undefined if it was not created here. */
export function copyOfReportAddress(address: Address, key: KeyObject): number | undefined {
  // Relays may change the case of a local part.
  const [, number, given] = /\+r([0-9a-z]{1,10})-([a-z2-7]{12})$/.exec(address.local.toLowerCase()) ?? [];
  if (number === undefined || given === undefined) return undefined;
  const copy = Number.parseInt(number, 36);
  if (!Number.isSafeInteger(copy)) return undefined;
  return timingSafeEqual(Buffer.from(mac(key, copy, address.domain)), Buffer.from(given)) ? copy : undefined;
}

function fitting(local: string, domain: string): Address | undefined {
  return parseAddress(formatAddress({ local, domain }));
}

/** 60-bit MAC over copy number and domain: a tag is invalid at another domain of this box. */
function mac(key: KeyObject, copy: number, domain: string): string {
  return tagMac(key, `report ${copy} ${domain}`, MAC_CHARACTERS);
}

/** Creates a case-insensitive MAC for a local part, 5 bits a character, at most 32 characters. */
export function tagMac(key: KeyObject, words: string, characters: number): string {
  const digest = createHmac('sha256', key).update(words).digest();
  return [...digest.subarray(0, characters)].map((octet) => BASE32[octet & 31]).join('');
}
