import { z } from 'zod';
import { jmapId, jmapRow } from '../../../mail/jmap/ids.ts';
import {
  type ChangeOutcome,
  changeEmails,
  EMAIL_SLICE,
  type EmailChange,
} from '../../../mail/store/email-change-commands.ts';
import { publicId } from '../../ids.ts';
import { agentOf } from '../caller.ts';
import type { Call } from '../operation.ts';
import { MessageId, namedMailbox, namedMessage } from '../reading/which.ts';
import { notFound } from '../refusal.ts';
import type { Mailbox } from '../scope.ts';

const ACCOUNT_SPAN = 2 ** 32;

export const MessageIds = z.array(MessageId).min(1).max(100);

export const Failed = z.array(
  z.object({
    messageId: z.string(),
    error: z.enum(['not_found', 'folder_gone', 'too_many_labels', 'not_in_trash', 'awaits_approval']),
  }),
);
export type Failed = z.output<typeof Failed>;

/** Messages by the ids that were given; undefined: no id of this mailbox. */
export type Given = readonly { id: string; email: number | undefined }[];

/** The mailbox that is meant, and the messages; the first id may say itself which mailbox it is. */
export async function namedMessages(
  call: Call,
  { mailbox, messageIds }: { mailbox?: string | undefined; messageIds: readonly string[] },
): Promise<{ box: Mailbox; given: Given }> {
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

/** What becomes of each message; 'not_in_trash' and the like: nothing. */
type Wish = Omit<EmailChange, 'email'> | 'not_in_trash';

/**
 * Changes messages, a slice of them a commit with its audit row. Answers how many are now as wished, and which are not;
 * refuses where none of them exists.
 */
export async function changeMessages(
  call: Call,
  box: Mailbox,
  given: Given,
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
  for (let at = 0; at < changes.length; at += EMAIL_SLICE) {
    const slice = changes.slice(at, at + EMAIL_SLICE);
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
    // A person decides about it, with a mail program or on the page of what waits.
    case 'forbidden':
      return 'awaits_approval';
  }
}
