import type { ListResponse } from 'imapflow';
import type { MailboxRole } from '../../store/mailbox/mailbox.ts';
import { acceptedFolder, roleByName } from '../folder-names.ts';

/** A folder of another server, and the one here that it is pulled into. */
export interface RemoteFolder {
  /** Name there. */
  path: string;
  /** Name here. */
  name: string;
  role: MailboxRole | undefined;
  /** All mail of Gmail: its labels decide where each message goes. */
  isAllMail: boolean;
}

const ROLES: Readonly<Record<string, MailboxRole>> = {
  '\\inbox': 'inbox',
  '\\drafts': 'drafts',
  '\\sent': 'sent',
  '\\junk': 'junk',
  '\\trash': 'trash',
  '\\archive': 'archive',
};

/** Folders that only show messages of others. */
const VIRTUAL = new Set(['\\flagged', '\\important']);

/** Folders that a server may list. */
const MAX_FOLDERS = 2_000;

/**
 * Chooses the folders to pull. With Gmail's labels as keywords, all mail, spam and trash have every message; as
 * folders, every label is pulled, and of all mail what has no label.
 */
export function foldersToPull(
  listed: readonly ListResponse[],
  { prefix, labels, isGmail }: { prefix: string; labels: 'keywords' | 'folders'; isGmail: boolean },
): RemoteFolder[] {
  const all = listed
    .filter((one) => !one.flags.has('\\Noselect') && !one.flags.has('\\NonExistent') && !VIRTUAL.has(useOf(one)))
    .slice(0, MAX_FOLDERS);
  const chosen = isGmail && labels === 'keywords' ? all.filter((one) => GMAIL.has(useOf(one))) : all;
  const taken = new Set<MailboxRole>();
  return chosen.map((one) => {
    const isAllMail = isGmail && useOf(one) === '\\all';
    const name = isAllMail ? 'Archive' : nameOf(one, prefix);
    const role = isAllMail ? 'archive' : (ROLES[useOf(one)] ?? roleByName(name));
    // Two folders with one use stay two folders.
    const isFirst = role !== undefined && !taken.has(role);
    if (isFirst) taken.add(role);
    return { path: one.path, name: acceptedFolder(name), role: isFirst ? role : undefined, isAllMail };
  });
}

const GMAIL = new Set(['\\all', '\\junk', '\\trash']);

function useOf({ specialUse, path }: ListResponse): string {
  return (specialUse ?? (path.toUpperCase() === 'INBOX' ? '\\Inbox' : '')).toLowerCase();
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
