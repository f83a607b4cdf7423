import { z } from 'zod';
import { MethodError } from '../../../mail/jmap/errors.ts';
import { jmapRow } from '../../../mail/jmap/ids.ts';
import { type MailboxNode, mailboxTree } from '../../../mail/store/mailbox-tree.ts';
import { noteExposure } from '../../reading/exposure.ts';
import { type Known, knownMessages } from '../../reading/summary.ts';
import type { Call } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Line } from '../schemas.ts';
import { type Mailbox, mailboxOf, withinThread } from '../scope.ts';

/** Rows of one account lie together: mail/store/message.ts. */
const ACCOUNT_SPAN = 2 ** 32;

const LIKE = 'looks like m1a, as list_messages gives it';

/** Ids of messages mean something inside one mailbox only. */
export const InMailbox = {
  mailbox: Line(1, 320).optional().describe('id or address'),
};
/** What models are shown of its form is short: every tool costs them. */
export const MessageId = z
  .string()
  .regex(/^m\w+$/, LIKE)
  .refine((id) => /^(?:m[1-9a-z][0-9a-z]{0,9}|msg_[1-9]\d{0,15})$/.test(id), LIKE);
export const ThreadId = z.string().regex(/^t[1-9a-z][0-9a-z]{0,9}$/, 'looks like t1a, as list_messages gives it');

/** The mailbox that is meant: the one that is named, else the only one of the token. */
export function namedMailbox(call: Call, mailbox: string | undefined): Promise<Mailbox> {
  if (mailbox !== undefined) {
    return mailboxOf(call, /^mbx_\d+$/.test(mailbox) ? { mailboxId: mailbox } : { address: mailbox });
  }
  if (call.caller.mailboxes?.length === 1) return mailboxOf(call, {});
  return refuse('invalid_arguments', 'Say which mailbox: give its id or address as list_emails has them.', {
    issues: [{ path: 'mailbox', message: 'missing' }],
  });
}

/** The mailbox of a message, and the message's row. An id of a webhook (`msg_12`) says itself which mailbox it is of. */
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

/** A message with its structure; it was shown then. */
export async function wholeMessage(call: Call, box: Mailbox, email: number): Promise<Known> {
  const found = await knownMessages(call.store, box, [email], true);
  if (found === undefined) {
    return refuse(
      'too_large',
      'The structure of this message is too large to be read here: open it in a mail program.',
    );
  }
  withinThread(call, found[0]?.row.threadId);
  await noteExposure(call, found);
  return found[0] ?? notFound('message');
}

/** The folder that is meant, by its role, name or id, and all that there are. */
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

/** What the query says no to, in the words of an operation. */
export async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof MethodError)) throw error;
    if (error.type === 'serverUnavailable') refuse('unavailable', error.message, { retryAfterSeconds: 30 });
    if (error.type === 'requestTooLarge') refuse('too_large', error.message);
    return refuse('invalid_arguments', error.message, { issues: [{ path: 'query', message: 'cannot be answered' }] });
  }
}
