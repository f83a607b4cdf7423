import { addressKey, type Address, parseAddress } from '../../mail/message/address.ts';
import type { BoxLetter } from '../letters/letter.ts';
import { secretHash } from '../tokens/token.ts';
import { CLAIM_DAYS } from './commands.ts';

const LONGEST_NAME = 60;

/** The letter by which a human owner claims an organization. Strangers choose the name, so it is cut down to a name. */
export function claimLetter(to: Address, organization: string, url: string, hostname: string): BoxLetter {
  const name = harmless(organization);
  return {
    to,
    subject: `Claim your organization ${name} on ${hostname}`,
    text: [
      'Hello,',
      '',
      `somebody, perhaps an agent of yours, made the organization "${name}" on the mail server ${hostname}`,
      'and named this address as its owner.',
      '',
      `To claim it, open this page within ${CLAIM_DAYS} days and set a password:`,
      '',
      url,
      '',
      'You can then see what was done in it, and end the access of who made it.',
      'If you know nothing of this, do nothing: the organization stays unclaimed.',
      '',
      `Mailstead on ${hostname}`,
    ].join('\r\n'),
  };
}

/** A name without anything that a mail program would turn into a link. */
export function harmless(name: string): string {
  const words = name
    .replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069]+/gu, ' ')
    .replace(/\S*:\/\/\S*|\S*www\.\S*|\S+\.\p{L}{2,}\S*|\S*@\S*|[<>"]/giu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return words.slice(0, LONGEST_NAME).toWellFormed() || 'without a name';
}

export interface OwnerAddress {
  address: Address;
  /** As compared: lower case, A-labels, no dot at the end. */
  key: string;
  /** The same without its +tag. */
  base: string;
}

/** A person's address, strictly; undefined when it is none. */
export function ownerAddress(text: string): OwnerAddress | undefined {
  const address = parseAddress(text.trim().replace(/\.$/, ''));
  if (address === undefined || address.domain.startsWith('[')) return undefined;
  const key = addressKey(address);
  return { address, key, base: key.replace(/\+[^@]*@/, '@') };
}

/** Counters do not keep people's addresses. */
export function subjectOf(key: string): string {
  return secretHash(key).toString('hex').slice(0, 32);
}
