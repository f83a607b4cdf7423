import { createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type Address, addressKey } from '../../mail/message/address.ts';
import { tagMac } from '../../mail/message/report-address.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import type { AnsweredLetter } from './commands.ts';
import { beginOf } from './day.ts';

/** 80 bits: a holder of the address can stop agents, so it must not be guessed. */
const MAC_CHARACTERS = 16;
/** Days during which a digest accepts replies. */
const GOOD_DAYS = 14;

/** Key of all reply addresses. */
export function answerKey(secrets: SecretBox): KeyObject {
  return createSecretKey(secrets.subkey('answers to daily digests'));
}

/** Creates the reply address of one digest. */
export function answerAddress({ organization, user, day }: AnsweredLetter, hostname: string, key: KeyObject): Address {
  const facts = [organization, user, day].map((one) => one.toString(36)).join('.');
  return { local: `mailstead+d${facts}-${mac(facts, hostname, key)}`, domain: hostname };
}

/** Digest that a reply address belongs to; undefined for other addresses. */
export function answeredLetter(to: Address, hostname: string, key: KeyObject): AnsweredLetter | undefined {
  // Mail servers may change the case of a local part.
  const [, facts, given] = /^mailstead\+d([0-9a-z.]{5,30})-([a-z2-7]{16})$/.exec(to.local.toLowerCase()) ?? [];
  if (facts === undefined || given === undefined || !isAt(to, hostname)) return undefined;
  if (!timingSafeEqual(Buffer.from(mac(facts, hostname, key)), Buffer.from(given))) return undefined;
  const [organization = 0, user = 0, day = 0] = facts.split('.').map((one) => Number.parseInt(one, 36));
  return { organization, user, day };
}

/** Tests if replies to a digest are still accepted. */
export function isOpen({ day }: AnsweredLetter, now: number): boolean {
  return now < beginOf(day + 1 + GOOD_DAYS);
}

function isAt(to: Address, hostname: string): boolean {
  return addressKey({ ...to, local: 'mailstead' }) === addressKey({ local: 'mailstead', domain: hostname });
}

function mac(facts: string, hostname: string, key: KeyObject): string {
  return tagMac(key, `daily digest ${facts} ${hostname}`, MAC_CHARACTERS);
}
