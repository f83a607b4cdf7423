import { canonicalName } from '../imap/wire/mailbox-name.ts';
import { MAX_LEVEL_OCTETS } from '../message/mailbox-level.ts';
import { MAX_MAILBOX_DEPTH, MAX_MAILBOX_NAME_OCTETS, type MailboxRole } from '../store/mailbox/mailbox.ts';

/** Names of folders with a special use, as mail programs have them in English; others keep their names. */
const ROLES: Readonly<Record<string, MailboxRole>> = {
  inbox: 'inbox',
  drafts: 'drafts',
  sent: 'sent',
  'sent items': 'sent',
  'sent messages': 'sent',
  'sent mail': 'sent',
  trash: 'trash',
  'deleted items': 'trash',
  'deleted messages': 'trash',
  junk: 'junk',
  'junk e-mail': 'junk',
  'junk email': 'junk',
  spam: 'junk',
  'bulk mail': 'junk',
  archive: 'archive',
};

/** Special use of a folder by its name; undefined: none. */
export function roleByName(folder: string): MailboxRole | undefined {
  return Object.hasOwn(ROLES, folder.toLowerCase()) ? ROLES[folder.toLowerCase()] : undefined;
}

/**
 * A name that this server accepts: NFC, no control characters, no empty levels, not too deep or long. Levels that are
 * left out of a deep name join the last one.
 */
export function acceptedFolder(name: string): string {
  const levels = name
    .normalize('NFC')
    .toWellFormed()
    .split('/')
    .map((level) => level.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '_').trim())
    .filter((level) => level !== '');
  if (levels.length > MAX_MAILBOX_DEPTH) levels.push(levels.splice(MAX_MAILBOX_DEPTH - 1).join('_'));
  const short = levels.map((level) => cut(level, MAX_LEVEL_OCTETS));
  while (short.length > 1 && Buffer.byteLength(short.join('/')) > MAX_MAILBOX_NAME_OCTETS) short.splice(-2, 1);
  return canonicalName(short.join('/')) ?? 'Imported';
}

function cut(text: string, octets: number): string {
  return Buffer.byteLength(text) <= octets
    ? text
    : Buffer.from(text)
        .subarray(0, octets - 3)
        .toString()
        .replace(/\uFFFD+$/, '');
}
