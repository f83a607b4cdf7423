import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type Address, formatAddress, parseAddress } from './address.ts';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const MAC_CHARACTERS = 12;
/** Of an address whose own local part leaves no room for the tag. */
const SHORT = 'bounces';

/**
 * The envelope sender of one copy of a message: the real one and a tag with the number of that copy and a MAC, so that
 * a report says whom it is about by where it goes. Behind a `+`, where greylisters look no further and other servers
 * that host the domain find the mailbox all the same. RFC 5321 4.5.3.1.1: at most 64 octets of local part, so a long
 * one makes way for a short word.
 */
export function reportAddress(sender: Address, copy: number, key: KeyObject): Address {
  const tag = `r${copy.toString(36)}-${mac(key, copy, sender.domain)}`;
  const tagged = fitting(`${sender.local}+${tag}`, sender.domain);
  return tagged ?? { local: `${SHORT}+${tag}`, domain: sender.domain };
}

/** The copy that an address of {@link reportAddress} stands for; undefined for all that was not made here. */
export function reportedCopy(address: Address, key: KeyObject): number | undefined {
  // Servers on the way may change the case of a local part.
  const [, number, given] = /\+r([0-9a-z]{1,10})-([a-z2-7]{12})$/.exec(address.local.toLowerCase()) ?? [];
  if (number === undefined || given === undefined) return undefined;
  const copy = Number.parseInt(number, 36);
  if (!Number.isSafeInteger(copy)) return undefined;
  return timingSafeEqual(Buffer.from(mac(key, copy, address.domain)), Buffer.from(given)) ? copy : undefined;
}

function fitting(local: string, domain: string): Address | undefined {
  return parseAddress(formatAddress({ local, domain }));
}

/** 60 bits over the number and the domain: a tag is good for nothing at another domain of this box. */
function mac(key: KeyObject, copy: number, domain: string): string {
  return tagMac(key, `report ${copy} ${domain}`, MAC_CHARACTERS);
}

/** A MAC for a local part, 5 bits a character, which outlives a change of case. At most 32 characters. */
export function tagMac(key: KeyObject, words: string, characters: number): string {
  const digest = createHmac('sha256', key).update(words).digest();
  return [...digest.subarray(0, characters)].map((octet) => BASE32[octet & 31]).join('');
}
