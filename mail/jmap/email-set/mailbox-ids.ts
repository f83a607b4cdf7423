import type { Actor } from '../../store/actor.ts';
import type { NamedFlags } from '../../store/mailbox/flags.ts';
import { MAX_MAILBOXES_PER_EMAIL } from '../../store/message/email-commands.ts';
import type { OctetBudget } from '../blob/blobs.ts';
import { resolveCreationId } from '../core/access.ts';
import { id, idOrCreation, plainObject, wrong } from '../core/arguments.ts';
import { jmapId, jmapRow } from '../core/ids.ts';
import type { MethodCall } from '../core/method.ts';
import { SYSTEM_KEYWORDS } from '../email-query/keyword-argument.ts';
import { SetRefusal } from '../standard/standard-set.ts';

/** The account that a call changes, and its actor. */
export interface EmailTarget {
  call: Pick<MethodCall, 'createdIds' | 'context' | 'session'>;
  account: number;
  /** The password's owner; omitted for a token. */
  actor?: Actor | undefined;
  /** Octets that the call may still read to open blobs. */
  opening?: OctetBudget | undefined;
}

/** Resolves a mailbox id or creation id to its row; undefined if it is not a mailbox id of this account. */
export function mailboxRow(target: EmailTarget, given: string, path: string): number | undefined {
  const found = resolveCreationId(target.call, idOrCreation(given, path));
  return found === undefined ? undefined : jmapRow('mailbox', target.account, id(found, path));
}

/** Reads a mailboxIds object such as `{ "f1": true }` as rows; requires one at least. RFC 8621 4.1.1. */
export function readMailboxIds(target: EmailTarget, value: unknown, path: string): number[] {
  if (value === undefined || value === null) throw wrong(path, 'must have at least one mailbox');
  const rows = Object.entries(plainObject(value, path)).map(([given, is]) => {
    if (is !== true) throw wrong(path, 'must have true for each mailbox');
    const row = mailboxRow(target, given, path);
    if (row === undefined) throw mailboxNotFound(given, path);
    return row;
  });
  if (rows.length === 0) throw wrong(path, 'must have at least one mailbox');
  if (rows.length > MAX_MAILBOXES_PER_EMAIL) throw tooManyMailboxes();
  return [...new Set(rows)];
}

/** The error for a mailbox of another account, deleted or never created. */
export function mailboxNotFound(given: number | string, path = 'mailboxIds'): Error {
  return wrong(path, `contains the unknown mailbox ${typeof given === 'number' ? jmapId('mailbox', given) : given}`);
}

/** The tooManyMailboxes error. RFC 8621 4.6. */
export function tooManyMailboxes(): SetRefusal {
  return new SetRefusal('tooManyMailboxes', `An email can be in ${MAX_MAILBOXES_PER_EMAIL} mailboxes at most.`);
}

/** Maximum keywords of one email: four system flags, 26 slots, and 100 others. */
const MAX_KEYWORDS = 130;

/** Reads a keyword that is valid in IMAP too, in lower case. RFC 8621 4.1.1. */
export function readKeyword(name: string, path: string): string {
  if (!/^[\x21-\x7e]{1,255}$/.test(name) || /[(){\]%*"\\]/.test(name)) {
    throw wrong(path, 'must have keywords of 1 to 255 ASCII characters, without spaces and (){]%*"\\');
  }
  return name.toLowerCase();
}

/** Reads a keywords object such as `{ "$seen": true }`. */
export function readKeywords(value: unknown, path: string): NamedFlags {
  const names = Object.entries(plainObject(value, path)).map(([name, is]) => {
    if (is !== true) throw wrong(path, 'must have true for each keyword');
    return readKeyword(name, path);
  });
  return keywordFlags(names);
}

/** Splits keywords into system bits and others. */
export function keywordFlags(names: readonly string[]): NamedFlags {
  if (names.length > MAX_KEYWORDS) throw tooManyKeywords();
  let bits = 0;
  for (const name of names) bits |= SYSTEM_KEYWORDS.get(name) ?? 0;
  return { bits, keywords: names.filter((name) => !SYSTEM_KEYWORDS.has(name)) };
}

/** The tooManyKeywords error. RFC 8621 4.6. */
export function tooManyKeywords(): SetRefusal {
  return new SetRefusal('tooManyKeywords', `An email can have at most ${MAX_KEYWORDS} keywords.`);
}
