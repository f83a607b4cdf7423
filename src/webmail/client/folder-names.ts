import type { PlainKey } from './message-types.ts';
import { t } from './translate.ts';

/** Names of the folders that every mailbox has. */
const NAMES: Readonly<Record<string, readonly [given: string, key: PlainKey]>> = {
  inbox: ['INBOX', 'folder.inbox'],
  drafts: ['Drafts', 'folder.drafts'],
  sent: ['Sent', 'folder.sent'],
  archive: ['Archive', 'folder.archive'],
  junk: ['Junk', 'folder.junk'],
  trash: ['Trash', 'folder.trash'],
  templates: ['Templates', 'folder.templates'],
};

/** Folders that have no role here: the inbox of a shared account, and the folder for templates. */
const ROLE_OF_NAME: Readonly<Record<string, string>> = { INBOX: 'inbox', Templates: 'templates' };

/** The name of a folder in the language of the page; a folder that its owner named keeps that name. */
export function folderName({ name, role }: { name: string; role: string | null }): string {
  const known = NAMES[role ?? ROLE_OF_NAME[name] ?? ''];
  return known !== undefined && (role === 'inbox' || name === known[0]) ? t(known[1]) : name;
}

/** The name of the folder for a role. */
export function roleName(role: string): string {
  const known = NAMES[role];
  return known === undefined ? role : t(known[1]);
}
