import type { ListResponse } from 'imapflow';
import type { MailboxRole } from '../../store/mailbox/mailbox.ts';
import { acceptedFolder, roleByName } from '../folder-names.ts';
import { labelKey } from '../gmail-labels.ts';
import type { OmittedFolders } from './pull-types.ts';

/** A folder of another server, and the one here that it is pulled into. */
export interface RemoteFolder {
  /** Name there. */
  path: string;
  /** Name here. */
  name: string;
  role: MailboxRole | undefined;
  /** All mail of Gmail: its labels decide where each message goes. */
  isAllMail: boolean;
  /** Labels of Gmail whose messages come from folders of their own. */
  elsewhere: ReadonlySet<string>;
}

const ROLES: Readonly<Record<string, MailboxRole>> = {
  '\\inbox': 'inbox',
  '\\drafts': 'drafts',
  '\\sent': 'sent',
  '\\junk': 'junk',
  '\\trash': 'trash',
  '\\archive': 'archive',
};

const NOWHERE: ReadonlySet<string> = new Set();

/** Labels that Gmail itself gives to the messages of folders with a use. */
const LABELS: Readonly<Record<string, string>> = { '\\inbox': 'inbox', '\\sent': 'sent', '\\drafts': 'draft' };

/** Folders that only show messages of others. */
const VIRTUAL = new Set(['\\flagged', '\\important']);

/** Folders of one pull. */
const MAX_FOLDERS = 10_000;
/** Octets of a name there, by which it is found again: a key of PostgreSQL has 2,700 at most. */
const MAX_PATH = 1_000;
/** Characters of a name that is too long in the proof. */
const MAX_SHOWN = 100;
/** Names of omitted folders that a proof lists. */
const MAX_NAMED = 100;

/** Folders of Gmail that have every message, and their names in the settings of Gmail. */
const GMAIL: Readonly<Record<string, string>> = { '\\all': 'All Mail', '\\junk': 'Spam', '\\trash': 'Trash' };

/**
 * Chooses the folders to pull. With Gmail's labels as keywords, all mail, spam and trash have every message; as
 * folders, every label is pulled, and of all mail what is in no other folder. Lists what the pull has to leave out.
 */
export function foldersToPull(
  listed: readonly ListResponse[],
  { prefix, labels, isGmail }: { prefix: string; labels: 'keywords' | 'folders'; isGmail: boolean },
): { folders: RemoteFolder[]; omitted: OmittedFolders[] } {
  const all = listed.filter(
    (one) => !one.flags.has('\\Noselect') && !one.flags.has('\\NonExistent') && !isVirtual(one),
  );
  const short = all.filter((one) => !hasLongName(one));
  const wanted = isGmail && labels === 'keywords' ? short.filter((one) => Object.hasOwn(GMAIL, useOf(one))) : short;
  const chosen = wanted.slice(0, MAX_FOLDERS);
  const labelled = labels === 'folders' ? new Set(chosen.map(labelOf)) : NOWHERE;
  const taken = new Set<MailboxRole>();
  const folders = chosen.map((one) => {
    const isAllMail = isGmail && useOf(one) === '\\all';
    const name = isAllMail ? 'Archive' : nameOf(one, prefix);
    const role = isAllMail ? 'archive' : (ROLES[useOf(one)] ?? roleByName(name));
    // Two folders with one use stay two folders.
    const isFirst = role !== undefined && !taken.has(role);
    if (isFirst) taken.add(role);
    return {
      path: one.path,
      name: acceptedFolder(name),
      role: isFirst ? role : undefined,
      isAllMail,
      elsewhere: isAllMail ? labelled : NOWHERE,
    };
  });
  const hidden = isGmail ? Object.keys(GMAIL).filter((use) => !all.some((one) => useOf(one) === use)) : [];
  const tooMany = wanted.slice(MAX_FOLDERS).map(({ path }) => path);
  return {
    folders,
    omitted: [
      ...omittedFolders(
        hidden.map((use) => GMAIL[use] ?? use),
        'Hidden from IMAP by Gmail. In its settings, under Labels, select "Show in IMAP", then import again',
      ),
      ...omittedFolders(
        tooMany,
        `A pull takes at most ${MAX_FOLDERS.toLocaleString('en')} folders. Delete or merge folders there, then import again`,
      ),
      ...omittedFolders(
        all.filter(hasLongName).map(({ path }) => `${path.slice(0, MAX_SHOWN)}…`),
        `Its name has more than ${MAX_PATH.toLocaleString('en')} octets. Rename it there, then import again`,
      ),
    ],
  };
}

/** Folders that were left out for one reason, the first of them by name; none: nothing. */
export function omittedFolders(names: readonly string[], problem: string): OmittedFolders[] {
  if (names.length === 0) return [];
  return [{ problem, count: names.length, folders: names.slice(0, MAX_NAMED) }];
}

function hasLongName({ path }: ListResponse): boolean {
  return Buffer.byteLength(path) > MAX_PATH;
}

/** The library names some special uses only; others are flags. */
function isVirtual(folder: ListResponse): boolean {
  return [useOf(folder), ...folder.flags].some((use) => VIRTUAL.has(use.toLowerCase()));
}

function useOf({ specialUse, path }: ListResponse): string {
  return (specialUse ?? (path.toUpperCase() === 'INBOX' ? '\\Inbox' : '')).toLowerCase();
}

/** The label of the messages in a folder of Gmail. */
function labelOf(folder: ListResponse): string {
  return LABELS[useOf(folder)] ?? labelKey(folder.path);
}

/** Name with '/' between levels, without the prefix of the personal namespace (`INBOX.`). */
function nameOf({ path, delimiter }: ListResponse, prefix: string): string {
  const own =
    prefix !== '' && path.startsWith(prefix) && path.length > prefix.length ? path.slice(prefix.length) : path;
  if (!delimiter || delimiter === '/') return own;
  return own
    .split(delimiter)
    .map((level) => level.replaceAll('/', '_'))
    .join('/');
}
