import type { ImapMailboxInfo } from './imap-store.ts';
import { specialUse } from './special-use.ts';
import { mailbox as mailboxName } from './wire/encoder.ts';

/** `\HasChildren` and the special use: the attributes that every LIST response has. */
export function listAttributes(mailbox: ImapMailboxInfo): string[] {
  if (mailbox.isFormer) return ['\\NonExistent', ...(mailbox.hasChildren ? ['\\HasChildren'] : [])];
  const attributes = mailbox.isNonexistent === true ? ['\\NonExistent', '\\Noselect'] : [];
  attributes.push(mailbox.hasChildren ? '\\HasChildren' : '\\HasNoChildren');
  // Always sent, which RFC 6154 2 allows: otherwise clients create their own special folders.
  const use = specialUse(mailbox.role);
  return use === undefined ? attributes : [...attributes, use];
}

/** Tests if a listed name is a mailbox. */
export function isSelectable({ isFormer, isNonexistent }: ImapMailboxInfo): boolean {
  return isFormer !== true && isNonexistent !== true;
}

/** `* LIST (\HasNoChildren) "/" INBOX`, without CRLF. */
export function listResponse(mailbox: ImapMailboxInfo, utf8: boolean, attributes = listAttributes(mailbox)): string {
  return `* LIST (${attributes.join(' ')}) "/" ${mailboxName(mailbox.name, utf8)}`;
}

/** A deleted mailbox that is still subscribed, for LIST (SUBSCRIBED) and LSUB. RFC 5258 3.1. */
export function formerMailbox(name: string, hasChildren: boolean): ImapMailboxInfo {
  const counters = { uidValidity: 1, uidNext: 1, total: 0, unseen: 0, deleted: 0, bytes: 0, highestModseq: 1 };
  return { id: 0, name, role: null, subscribed: true, hasChildren, isFormer: true, ...counters };
}
