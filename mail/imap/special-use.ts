import type { ImapMailboxRole } from './imap-store.ts';

/** Special-use attributes. RFC 6154 2. INBOX has none. */
const ATTRIBUTES: Record<ImapMailboxRole, string | undefined> = {
  inbox: undefined,
  drafts: '\\Drafts',
  sent: '\\Sent',
  junk: '\\Junk',
  trash: '\\Trash',
  archive: '\\Archive',
};

export function specialUse(role: ImapMailboxRole | null): string | undefined {
  return role === null ? undefined : ATTRIBUTES[role];
}

/** The role of an attribute, or undefined when it is not supported. */
export function roleOf(attribute: string): ImapMailboxRole | undefined {
  const roles = Object.keys(ATTRIBUTES) as ImapMailboxRole[];
  return roles.find((role) => ATTRIBUTES[role]?.toLowerCase() === attribute.toLowerCase());
}
