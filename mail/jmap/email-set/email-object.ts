import type { NamedFlags } from '../../store/mailbox/flags.ts';
import { utcDate, wrong } from '../core/arguments.ts';
import { type HeaderBlock, isEmailHeader, readEmailHeader } from './header-block.ts';
import { type EmailTarget, readKeywords, readMailboxIds } from './mailbox-ids.ts';
import type { PartPlan } from './part-plan.ts';
import { readBodyStructure } from './body-structure.ts';

/** Mailboxes, flags and time of a new email. */
export interface EmailPlacing {
  mailboxes: number[];
  flags: NamedFlags;
  /** ms UTC; null if not given. */
  receivedAt: number | null;
}

/** A new email: header, body and placing. */
export interface EmailPlan extends EmailPlacing {
  header: HeaderBlock;
  body: PartPlan;
}

type Given = Readonly<Record<string, unknown>>;

const PLACING = ['mailboxIds', 'keywords', 'receivedAt'];
const BODY = ['bodyStructure', 'bodyValues', 'textBody', 'htmlBody', 'attachments'];
const KNOWN = new Set([...PLACING, ...BODY]);

/** Reads the Email object to create. RFC 8621 4.6. */
export function readEmail(target: EmailTarget, given: Given): EmailPlan {
  const odd = Object.keys(given).find((name) => !KNOWN.has(name) && !isEmailHeader(name));
  if (odd !== undefined) throw wrong(odd, whyNot(odd));
  const header = readEmailHeader(given);
  const body = readBodyStructure(given);
  for (const name of body.lines.keys()) {
    if (header.lines.has(name)) throw wrong('bodyStructure', `repeats the field ${name}`);
  }
  return { ...readEmailPlacing(target, given), header, body };
}

function whyNot(property: string): string {
  if (property === 'headers') return 'cannot be set. Set single fields, such as header:Name:asText';
  return 'cannot be set on a new email';
}

/** Reads the properties that /set, /copy and /import share. */
export function readEmailPlacing(target: EmailTarget, given: Given): EmailPlacing {
  const { keywords = null, receivedAt = null } = given;
  return {
    mailboxes: readMailboxIds(target, given['mailboxIds'], 'mailboxIds'),
    flags: keywords === null ? { bits: 0, keywords: [] } : readKeywords(keywords, 'keywords'),
    receivedAt: receivedAt === null ? null : utcDate(receivedAt, 'receivedAt'),
  };
}
