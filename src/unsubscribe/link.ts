import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '../../mail/store/secrets.ts';

/** Who is written to by whom, and the message that carries the link. */
export interface Subscription {
  organization: number;
  /** Address, as it was written to. */
  recipient: string;
  /** Of the message; its story says when somebody unsubscribed by it. */
  trace: string;
}

const LONGEST = 1000;

/** The key of all links of the box. */
export function unsubscribeKey(secrets: SecretBox): Buffer {
  return secrets.subkey('unsubscribe links');
}

/**
 * The page on which one recipient unsubscribes from the programs of an organization. It never ends: somebody finds the
 * message years later. It is for one recipient, so a message that carries it must have only that one.
 */
export function unsubscribeLink(baseUrl: string, key: Buffer, subscription: Subscription): string {
  const { organization, recipient, trace } = subscription;
  const facts = Buffer.from(JSON.stringify([organization, recipient, trace])).toString('base64url');
  return `${baseUrl}/unsubscribe/${facts}.${mac(key, facts)}`;
}

/** The fields that let a mail program unsubscribe by one click. Both have to be signed. RFC 2369 3.2, RFC 8058 3.1. */
export function unsubscribeFields(link: string): [name: string, value: string][] {
  return [
    ['List-Unsubscribe', `<${link}>`],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
  ];
}

/** What a link stands for; undefined for one that was not made here. */
export function readUnsubscribe(key: Buffer, token: string): Subscription | undefined {
  const [, facts, given] = token.length > LONGEST ? [] : (/^([\w-]+)\.([\w-]{22})$/.exec(token) ?? []);
  if (facts === undefined || given === undefined) return undefined;
  if (!timingSafeEqual(Buffer.from(mac(key, facts)), Buffer.from(given))) return undefined;
  const [organization, recipient, trace] = JSON.parse(Buffer.from(facts, 'base64url').toString()) as [
    number,
    string,
    string,
  ];
  return { organization, recipient, trace };
}

/** 128 bits. */
function mac(key: Buffer, facts: string): string {
  return createHmac('sha256', key).update(`unsubscribe ${facts}`).digest().subarray(0, 16).toString('base64url');
}
