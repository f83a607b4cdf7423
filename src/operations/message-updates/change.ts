import { z } from 'zod';
import {
  type ChangeOutcome,
  changeEmails,
  MAX_EMAILS,
  type EmailChange,
} from '../../../mail/store/message/email-change-commands.ts';
import { accountIn, publicMessageId, rowIn } from '../../core/message-ids.ts';
import { publicId } from '../../core/ids.ts';
import { agentOf } from '../../core/caller.ts';
import type { Call } from '../../core/operation.ts';
import { namedMailbox, MessageForm } from '../reading/mailbox-arguments.ts';
import { notFound, RefusedError } from '../../core/refusal.ts';
import type { Mailbox } from '../scope.ts';

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

interface ChangeCount {
  changed: number;
  failed: Failed;
}
interface MailboxGroup {
  box: Mailbox;
  given: { id: string; email: number | undefined }[];
}

/** Changes messages, mailbox by mailbox: their ids may name several. */
export async function changeByMailbox(
  call: Call,
  which: { mailbox?: string | undefined; messageIds: readonly string[] },
  change: (box: Mailbox, given: RequestedMessages) => Promise<ChangeCount>,
): Promise<ChangeCount> {
  const { groups, unknown } = await groupsOf(call, which);
  const [only, ...more] = groups;
  if (only !== undefined && more.length === 0 && unknown.length === 0) return change(only.box, only.given);
  const all: ChangeCount = { changed: 0, failed: unknown.map((id) => ({ messageId: id, error: 'not_found' })) };
  for (const { box, given } of groups) {
    const { changed, failed } = await change(box, given).catch((error: unknown) => missingOf(error, given));
    all.changed += changed;
    all.failed.push(...failed);
  }
  if (all.changed === 0 && all.failed.every(({ error }) => error === 'not_found')) notFound('message');
  return all;
}

/** Reports what one mailbox lacks for its messages: those of others are changed. */
function missingOf(error: unknown, given: RequestedMessages): ChangeCount {
  if (!(error instanceof RefusedError) || error.refusal.error !== 'not_found') throw error;
  const why = error.refusal['resource'] === 'folder' ? 'folder_gone' : 'not_found';
  return { changed: 0, failed: given.map(({ id }) => ({ messageId: id, error: why })) };
}

/** Groups ids by mailbox. `unknown`: ids of mailboxes that are not in sight. */
async function groupsOf(
  call: Call,
  { mailbox, messageIds }: { mailbox?: string | undefined; messageIds: readonly string[] },
): Promise<{ groups: MailboxGroup[]; unknown: string[] }> {
  const groups = new Map<number, MailboxGroup>();
  const unknown: string[] = [];
  const byName = Map.groupBy(new Set(messageIds), (id) => (mailbox === undefined ? accountIn(id) : undefined));
  for (const [account, ids] of byName) {
    const box = await namedMailbox(call, mailbox, account === undefined ? '' : ids[0]).catch((error: unknown) => {
      if (account === undefined || !(error instanceof RefusedError)) throw error;
      unknown.push(...ids);
    });
    if (box === undefined) continue;
    const group = groups.get(box.id) ?? { box, given: [] };
    groups.set(box.id, group);
    for (const id of ids) {
      const email = rowIn('email', box.id, id);
      // A message may be named in two forms.
      if (email === undefined || group.given.every((one) => one.email !== email)) group.given.push({ id, email });
    }
  }
  return { groups: [...groups.values()], unknown };
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
): Promise<ChangeCount> {
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
  const messages = changes.map(({ email }) => publicMessageId(email));
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
