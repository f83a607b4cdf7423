import { createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type Address, addressKey } from '../../mail/message/address.ts';
import { tagMac } from '../../mail/message/report-address.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';
import type { AnsweredLetter } from './commands.ts';
import { beginOf } from './day.ts';

/** 80 bits: whoever knows the address may stop agents, and nobody guesses it. */
const MAC_CHARACTERS = 16;
/** How long a letter can be answered. */
const GOOD_DAYS = 14;

/** Of all letters of the box that can be answered. */
export function answerKey(secrets: SecretBox): KeyObject {
  return createSecretKey(secrets.subkey('answers to daily letters'));
}

/** Where an answer to one daily letter goes: an address of the box, made for this one. */
export function answerAddress({ organization, user, day }: AnsweredLetter, hostname: string, key: KeyObject): Address {
  const facts = [organization, user, day].map((one) => one.toString(36)).join('.');
  return { local: `mailstead+d${facts}-${mac(facts, hostname, key)}`, domain: hostname };
}

/** The letter that an address of {@link answerAddress} was made for; undefined for all that was not made here. */
export function answeredLetter(to: Address, hostname: string, key: KeyObject): AnsweredLetter | undefined {
  // Servers on the way may change the case of a local part.
  const [, facts, given] = /^mailstead\+d([0-9a-z.]{5,30})-([a-z2-7]{16})$/.exec(to.local.toLowerCase()) ?? [];
  if (facts === undefined || given === undefined || !isAt(to, hostname)) return undefined;
  if (!timingSafeEqual(Buffer.from(mac(facts, hostname, key)), Buffer.from(given))) return undefined;
  const [organization = 0, user = 0, day = 0] = facts.split('.').map((one) => Number.parseInt(one, 36));
  return { organization, user, day };
}

/** Whether answers to a letter are still taken. */
export function isOpen({ day }: AnsweredLetter, now: number): boolean {
  return now < beginOf(day + 1 + GOOD_DAYS);
}

function isAt(to: Address, hostname: string): boolean {
  return addressKey({ ...to, local: 'mailstead' }) === addressKey({ local: 'mailstead', domain: hostname });
}

function mac(facts: string, hostname: string, key: KeyObject): string {
  return tagMac(key, `daily letter ${facts} ${hostname}`, MAC_CHARACTERS);
}
