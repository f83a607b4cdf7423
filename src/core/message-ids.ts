import { type BlobRef, blobId, jmapId, jmapRow } from '../../mail/jmap/core/ids.ts';
import { ACCOUNT_SPAN } from '../../mail/store/search/account-span.ts';

/**
 * Ids of messages and conversations in tools, REST and events: JMAP's id with the number of the mailbox in front, so that
 * an id is enough for a token of several mailboxes. `m12_1a` is message `m1a` of `mbx_12`. The number is decimal: in base
 * 36 some would begin with `msg_`, as the ids of webhooks do.
 */
type QualifiedKind = 'email' | 'thread';

/** Ids that are accepted: with their mailbox, as JMAP has them, and for messages as webhooks have them. */
export const MESSAGE_ID = /^(?:m(?:[1-9]\d{0,9}_)?[1-9a-z][0-9a-z]{0,9}|msg_[1-9]\d{0,15})$/;
export const DRAFT_ID = /^m(?:[1-9]\d{0,9}_)?[1-9a-z][0-9a-z]{0,9}$/;
export const THREAD_ID = /^t(?:[1-9]\d{0,9}_)?[1-9a-z][0-9a-z]{0,9}$/;
export const ATTACHMENT_ID = /^m(?:[1-9]\d{0,9}_)?[1-9a-z][0-9a-z]{0,9}-[1-9][0-9_]{0,99}$/;

/** Returns the id of a message by its row. */
export function publicMessageId(row: number): string {
  return qualified('email', row);
}

/** Returns the id of a conversation by its row. */
export function publicThreadId(row: number): string {
  return qualified('thread', row);
}

/** Returns the id of a part of a message. */
export function publicAttachmentId(email: number, path: string): string {
  const [, ...parts] = blobId({ kind: 'part', email, path } satisfies BlobRef).split('-');
  return [publicMessageId(email), ...parts].join('-');
}

function qualified(kind: QualifiedKind, row: number): string {
  const id = jmapId(kind, row);
  return `${id.slice(0, 1)}${Math.floor(row / ACCOUNT_SPAN)}_${id.slice(1)}`;
}

/** Returns the row of the mailbox that an id of a message, conversation or attachment names; undefined: it names none. */
export function accountIn(id: string): number | undefined {
  const named = /^[mt]([1-9]\d{0,9})_/.exec(id)?.[1];
  if (named !== undefined) return Number(named);
  const global = /^msg_(\d{1,16})$/.exec(id)?.[1];
  return global === undefined ? undefined : Math.floor(Number(global) / ACCOUNT_SPAN);
}

/** Returns the id without its mailbox, as JMAP has it. */
export function jmapForm(id: string): string {
  const global = /^msg_(\d{1,16})$/.exec(id)?.[1];
  return global === undefined ? id.replace(/^([mt])[1-9]\d{0,9}_/, '$1') : jmapId('email', Number(global));
}

/** Returns the row that an id means in a mailbox; undefined: it is no such id, or names another mailbox. */
export function rowIn(kind: QualifiedKind, account: number, id: string): number | undefined {
  return (accountIn(id) ?? account) === account ? jmapRow(kind, account, jmapForm(id)) : undefined;
}
