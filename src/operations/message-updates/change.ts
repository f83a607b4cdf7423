import { z } from 'zod';
import { jmapId, jmapRow } from '../../../mail/jmap/core/ids.ts';
import {
  type ChangeOutcome,
  changeEmails,
  MAX_EMAILS,
  type EmailChange,
} from '../../../mail/store/message/email-change-commands.ts';
import { publicId } from '../../core/ids.ts';
import { agentOf } from '../../core/caller.ts';
import type { Call } from '../../core/operation.ts';
import { namedMailbox, namedMessage, MessageForm } from '../reading/mailbox-arguments.ts';
import { notFound } from '../../core/refusal.ts';
import type { Mailbox } from '../scope.ts';

const ACCOUNT_SPAN = 2 ** 32;

export const MessageIds = z.array(MessageForm).min(1).max(100).describe('Message ids');

export const Failed = z.array(
  z.object({
    messageId: z.string(),
    error: z.enum(['not_found', 'folder_gone', 'too_many_labels', 'not_in_trash', 'awaits_approval']),
  }),
);
export type Failed = z.output<typeof Failed>;

/** Messages by the given ids; undefined: the id is not valid in this mailbox. */
export type RequestedMessages = readonly { id: string; email: number | undefined }[];

/** Returns the mailbox and its messages; the first id may name the mailbox. */
export async function namedMessages(
  call: Call,
  { mailbox, messageIds }: { mailbox?: string | undefined; messageIds: readonly string[] },
): Promise<{ box: Mailbox; given: RequestedMessages }> {
  const [first = ''] = messageIds;
  const { box } =
    mailbox === undefined && first.startsWith('msg_')
      ? await namedMessage(call, { messageId: first })
      : { box: await namedMailbox(call, mailbox) };
  const rowOf = (id: string): number | undefined => {
    const row = id.startsWith('msg_') ? Number(id.slice(4)) : jmapRow('email', box.id, id);
    return row !== undefined && Math.floor(row / ACCOUNT_SPAN) === box.id ? row : undefined;
  };
  return { box, given: [...new Set(messageIds)].map((id) => ({ id, email: rowOf(id) })) };
}

/** Change of each message, or the reason why it cannot be made. */
type Wish = Omit<EmailChange, 'email'> | 'not_in_trash';

/**
 * Changes messages in slices, each a commit with its audit row. Returns the number changed and the failures; refuses if
 * none of them exists.
 */
export async function changeMessages(
  call: Call,
  box: Mailbox,
  given: RequestedMessages,
  wish: (email: number) => Wish,
  detail: Parameters<Call['change']>[3] = {},
): Promise<{ changed: number; failed: Failed }> {
  const failed: Failed = [];
  const changes: EmailChange[] = [];
  for (const { id, email } of given) {
    const wished = email === undefined ? 'not_found' : wish(email);
    if (typeof wished === 'string') failed.push({ messageId: id, error: wished });
    else changes.push({ ...wished, email: email ?? 0 });
  }
  const named = new Map(given.map(({ id, email }) => [email, id]));
  let changed = 0;
  for (let at = 0; at < changes.length; at += MAX_EMAILS) {
    const slice = changes.slice(at, at + MAX_EMAILS);
    const outcomes = await write(call, box, slice, detail);
    for (const [i, { email }] of slice.entries()) {
      const error = errorOf(outcomes[i] ?? { kind: 'not-found' });
      if (error === undefined) changed += 1;
      else failed.push({ messageId: named.get(email) ?? '', error });
    }
  }
  if (changed === 0 && failed.every(({ error }) => error === 'not_found')) notFound('message');
  return { changed, failed };
}

async function write(
  call: Call,
  box: Mailbox,
  changes: readonly EmailChange[],
  detail: Parameters<Call['change']>[3],
): Promise<readonly ChangeOutcome[]> {
  const messages = changes.map(({ email }) => jmapId('email', email));
  const input = { account: box.id, changes, ifState: null, by: agentOf(call.caller) };
  const done = await call.change(changeEmails, input, publicId('mailbox', box.id), { messages, ...detail });
  return done.kind === 'done' ? done.outcomes : [];
}

function errorOf({ kind }: ChangeOutcome): Failed[number]['error'] | undefined {
  switch (kind) {
    case 'changed':
      return undefined;
    case 'too-many-keywords':
      return 'too_many_labels';
    case 'missing':
    case 'in-none':
    case 'in-too-many':
      return 'folder_gone';
    case 'not-found':
      return 'not_found';
    // A person decides about it, in a mail program or on the approval page.
    case 'forbidden':
      return 'awaits_approval';
  }
}
