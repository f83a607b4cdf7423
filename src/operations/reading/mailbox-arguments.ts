import { z } from 'zod';
import { MethodError } from '../../../mail/jmap/core/errors.ts';
import { jmapRow } from '../../../mail/jmap/core/ids.ts';
import { type MailboxNode, mailboxTree } from '../../../mail/store/mailbox/mailbox-tree.ts';
import { recordTaint } from '../../reading/read-record.ts';
import { type LoadedMessage, loadMessages } from '../../reading/summary.ts';
import { MESSAGE_ID, THREAD_ID, accountIn, rowIn } from '../../core/message-ids.ts';
import type { Call } from '../../core/operation.ts';
import { publicId } from '../../core/ids.ts';
import { notFound, refuse, RefusedError } from '../../core/refusal.ts';
import { Line } from '../../core/schemas.ts';
import { type Mailbox, mailboxOf, withinThread } from '../scope.ts';

const ID_FORM = 'must look like m12_1a, as list_messages shows it';
const THREAD_FORM = 'must look like t12_1a, as list_messages shows it';

/** Ids of messages and conversations name their mailbox, so that it may be left out. */
export const InMailbox = {
  mailbox: Line(1, 320).optional().describe('Mailbox id or address'),
};
/** An id of a message, without a description. The listed pattern is short to save tokens; the check is exact. */
export const MessageForm = z
  .string()
  .regex(/^m\w+$/, ID_FORM)
  .refine((id) => MESSAGE_ID.test(id), ID_FORM);
export const MessageId = MessageForm.describe('Message id');
export const ThreadId = z
  .string()
  .regex(/^t\w+$/, THREAD_FORM)
  .refine((id) => THREAD_ID.test(id), THREAD_FORM)
  .describe('Conversation id');

/** Maximum characters of an answer, and its start. */
export const MaxChars = z.number().int().min(1).max(60_000).default(20_000).describe('Characters');
export const Offset = z.number().int().min(0).max(10_000_000).default(0).describe('First character');

/** Returns the named mailbox, else that of `id` (a message, conversation or file), else the token's only one. */
export async function namedMailbox(call: Call, mailbox: string | undefined, id = ''): Promise<Mailbox> {
  if (mailbox !== undefined) {
    return mailboxOf(call, /^mbx_\d+$/.test(mailbox) ? { mailboxId: mailbox } : { address: mailbox });
  }
  const account = accountIn(id);
  if (account !== undefined) return mailboxBehind(call, account, id);
  if (call.caller.mailboxes?.length === 1) return mailboxOf(call, {});
  return refuse('invalid_arguments', 'Give mailbox: its id or address, as list_emails shows it.', {
    issues: [{ path: 'mailbox', message: 'missing' }],
  });
}

/** Answers alike for messages that are missing, of others, and beyond the token: an id is a guess. */
async function mailboxBehind(call: Call, account: number, id: string): Promise<Mailbox> {
  try {
    return await mailboxOf(call, { mailboxId: publicId('mailbox', account) });
  } catch (error) {
    if (error instanceof RefusedError) notFound(id.startsWith('t') ? 'thread' : 'message');
    throw error;
  }
}

/** Returns the mailbox and the row of a message. */
export async function namedMessage(
  call: Call,
  { mailbox, messageId }: { mailbox?: string | undefined; messageId: string },
): Promise<{ box: Mailbox; email: number }> {
  const box = await namedMailbox(call, mailbox, messageId);
  return { box, email: rowIn('email', box.id, messageId) ?? notFound('message') };
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
