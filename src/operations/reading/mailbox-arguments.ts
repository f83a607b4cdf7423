import { z } from 'zod';
import { MethodError } from '../../../mail/jmap/core/errors.ts';
import { jmapRow } from '../../../mail/jmap/core/ids.ts';
import { type MailboxNode, mailboxTree } from '../../../mail/store/mailbox/mailbox-tree.ts';
import { recordTaint } from '../../reading/read-record.ts';
import { type LoadedMessage, loadMessages } from '../../reading/summary.ts';
import type { Call } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Line } from '../../core/schemas.ts';
import { type Mailbox, mailboxOf, withinThread } from '../scope.ts';

/** Rows of one account are contiguous: mail/store/message/message.ts. */
const ACCOUNT_SPAN = 2 ** 32;

const ID_FORM = 'must look like m1a, as list_messages shows it';

/** Message ids are only valid inside one mailbox. */
export const InMailbox = {
  mailbox: Line(1, 320).optional().describe('Mailbox id or address'),
};
/** An id of a message, without a description. The listed pattern is short to save tokens; the check is exact. */
export const MessageForm = z
  .string()
  .regex(/^m\w+$/, ID_FORM)
  .refine((id) => /^(?:m[1-9a-z][0-9a-z]{0,9}|msg_[1-9]\d{0,15})$/.test(id), ID_FORM);
export const MessageId = MessageForm.describe('Message id');
export const ThreadId = z
  .string()
  .regex(/^t[1-9a-z][0-9a-z]{0,9}$/, 'must look like t1a, as list_messages shows it')
  .describe('Conversation id');

/** Maximum characters of an answer, and its start. */
export const MaxChars = z.number().int().min(1).max(60_000).default(20_000).describe('Characters');
export const Offset = z.number().int().min(0).max(10_000_000).default(0).describe('First character');

/** Returns the named mailbox, or the token's only one. */
export function namedMailbox(call: Call, mailbox: string | undefined): Promise<Mailbox> {
  if (mailbox !== undefined) {
    return mailboxOf(call, /^mbx_\d+$/.test(mailbox) ? { mailboxId: mailbox } : { address: mailbox });
  }
  if (call.caller.mailboxes?.length === 1) return mailboxOf(call, {});
  return refuse('invalid_arguments', 'Give mailbox: its id or address, as list_emails shows it.', {
    issues: [{ path: 'mailbox', message: 'missing' }],
  });
}

/** Returns the mailbox and the row of a message. An id of a webhook (`msg_12`) implies its mailbox. */
export async function namedMessage(
  call: Call,
  { mailbox, messageId }: { mailbox?: string | undefined; messageId: string },
): Promise<{ box: Mailbox; email: number }> {
  const global = Number(/^msg_(\d+)$/.exec(messageId)?.[1] ?? 0);
  const of = global === 0 ? mailbox : (mailbox ?? `mbx_${Math.floor(global / ACCOUNT_SPAN)}`);
  const box = await namedMailbox(call, of);
  const email = global === 0 ? jmapRow('email', box.id, messageId) : global;
  return email === undefined || Math.floor(email / ACCOUNT_SPAN) !== box.id ? notFound('message') : { box, email };
}

/** Loads a message with its structure, and records that it was read. */
export async function wholeMessage(call: Call, box: Mailbox, email: number): Promise<LoadedMessage> {
  const found = await loadMessages(call.store, box, [email], true);
  if (found === undefined) {
    return refuse(
      'too_large',
      'The structure of this message is too complex to be read here: open it in a mail program.',
    );
  }
  withinThread(call, found[0]?.row.threadId);
  await recordTaint(call, found);
  return found[0] ?? notFound('message');
}

/** Finds a folder by role, name or id; returns all folders too. */
export async function namedFolder(
  call: Call,
  box: Mailbox,
  folder: string,
): Promise<{ node: MailboxNode; nodes: MailboxNode[] }> {
  const { nodes } = await call.store.read(mailboxTree, { account: box.id, ids: null });
  const id = jmapRow('mailbox', box.id, folder);
  const name = folder.toLowerCase();
  const node =
    nodes.find((one) => one.role === name) ??
    nodes.find((one) => one.id === id) ??
    nodes.find((one) => one.name.toLowerCase() === name);
  return node === undefined ? notFound('folder') : { node, nodes };
}

/** Maps errors of the query to refusals. */
export async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof MethodError)) throw error;
    if (error.type === 'serverUnavailable') refuse('unavailable', error.message, { retryAfterSeconds: 30 });
    if (error.type === 'requestTooLarge') refuse('too_large', error.message);
    return refuse('invalid_arguments', error.message, { issues: [{ path: 'query', message: 'is not supported' }] });
  }
}
