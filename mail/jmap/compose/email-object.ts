import type { FlagSet } from '../../store/flags.ts';
import { utcDate, wrong } from '../arguments.ts';
import { type HeaderBlock, isEmailHeader, readEmailHeader } from './header-block.ts';
import { readKeywords } from './keywords.ts';
import { type Asked, readMailboxIds } from './mailboxes.ts';
import type { PartPlan } from './part.ts';
import { readBodyStructure } from './structure.ts';

/** Where an email shall be, and what it shall carry. */
export interface Placing {
  mailboxes: number[];
  flags: FlagSet;
  /** ms UTC; null: not said. */
  receivedAt: number | null;
}

/** An email that is to be made. */
export interface EmailPlan extends Placing {
  header: HeaderBlock;
  body: PartPlan;
}

type Given = Readonly<Record<string, unknown>>;

const PLACING = ['mailboxIds', 'keywords', 'receivedAt'];
const BODY = ['bodyStructure', 'bodyValues', 'textBody', 'htmlBody', 'attachments'];
const KNOWN = new Set([...PLACING, ...BODY]);

/** Reads the Email object of a creation. RFC 8621 4.6. */
export function readEmail(asked: Asked, given: Given): EmailPlan {
  const odd = Object.keys(given).find((name) => !KNOWN.has(name) && !isEmailHeader(name));
  if (odd !== undefined) throw wrong(odd, whyNot(odd));
  const header = readEmailHeader(given);
  const body = readBodyStructure(given);
  for (const name of body.lines.keys()) {
    if (header.lines.has(name)) throw wrong('bodyStructure', `gives the field ${name} a second time`);
  }
  return { ...readPlacing(asked, given), header, body };
}

function whyNot(property: string): string {
  if (property === 'headers') return 'must not be given: write single fields as header:Name:asText and the like';
  return 'is no property that an email can be made with';
}

/** The properties that /set, /copy and /import have in common. */
export function readPlacing(asked: Asked, given: Given): Placing {
  const { keywords = null, receivedAt = null } = given;
  return {
    mailboxes: readMailboxIds(asked, given['mailboxIds'], 'mailboxIds'),
    flags: keywords === null ? { bits: 0, keywords: [] } : readKeywords(keywords, 'keywords'),
    receivedAt: receivedAt === null ? null : utcDate(receivedAt, 'receivedAt'),
  };
}
