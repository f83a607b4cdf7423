import type { MailboxRole } from './needs.ts';

/** RFC 6154 2. The inbox has no attribute: its name says it. */
const ATTRIBUTES: Record<MailboxRole, string | undefined> = {
  inbox: undefined,
  drafts: '\\Drafts',
  sent: '\\Sent',
  junk: '\\Junk',
  trash: '\\Trash',
  archive: '\\Archive',
};

export function specialUse(role: MailboxRole | null): string | undefined {
  return role === null ? undefined : ATTRIBUTES[role];
}

/** The role that an attribute asks for, or undefined when we have none for it. */
export function roleOf(attribute: string): MailboxRole | undefined {
  const roles = Object.keys(ATTRIBUTES) as MailboxRole[];
  return roles.find((role) => ATTRIBUTES[role]?.toLowerCase() === attribute.toLowerCase());
}
