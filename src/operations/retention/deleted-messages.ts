import { z } from 'zod';
import { namedAddresses } from '../../../mail/message/named-address.ts';
import { readEnvelope } from '../../../mail/message/stored-envelope.ts';
import {
  type DeletedPosition,
  deletedSince,
  expireDeletedMessages,
  listDeletedMessages,
  MAX_RESTORED,
  restoreDeletedMessages,
} from '../../../mail/store/retention/deleted-mail.ts';
import { deletedMailboxes, purgeDeletedFolder, purgeExpunged } from '../../../mail/store/retention/purge.ts';
import { purgeMessages } from '../../../mail/store/retention/purge-messages.ts';
import { publicMessageId, rowIn } from '../../core/message-ids.ts';
import { publicId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { isoOf, Line, nextCursor, Time } from '../../core/schemas.ts';
import { MailboxArguments } from '../mailboxes/shown.ts';
import { mailboxOf, type Mailbox } from '../scope.ts';

const PAGE = 100;
const ReplacedDrafts = z.boolean().default(false).describe('Also versions of drafts that a later one replaced');

export const listDeleted = operation({
  name: 'list_deleted_messages',
  title: 'List deleted messages',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'organize',
  peopleOnly: true,
  untrusted: true,
  description: 'Lists messages that left all folders and can be restored, those deleted last first. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    ...MailboxArguments,
    since: Time('Deleted since').optional(),
    drafts: ReplacedDrafts,
    cursor: z
      .string()
      .regex(/^\d{1,15}\.m\w{1,30}$/, 'must be the nextCursor of this list')
      .describe('nextCursor of the previous page')
      .optional(),
  }),
  output: z.object({ messages: z.array(z.looseObject({ messageId: z.string() })), nextCursor }),
  async run(call, { since, drafts, cursor, ...which }) {
    const { id: account } = await mailboxOf(call, which);
    const before = cursor === undefined ? null : positionOf(account, cursor);
    const from = since === undefined ? 1 : Math.max(1, Date.parse(since));
    const page = { account, since: from, drafts, before, limit: PAGE + 1 };
    const rows = await call.store.scan(listDeletedMessages, page);
    const last = rows[PAGE - 1];
    return {
      messages: rows.slice(0, PAGE).map((row) => ({
        messageId: publicMessageId(row.id),
        folder: row.folder,
        subject: row.subject,
        from: namedAddresses(readEnvelope(row.envelope).from ?? [])[0]?.email ?? '',
        size: row.size,
        receivedAt: isoOf(row.receivedAt),
        deletedAt: isoOf(row.deletedAt),
      })),
      nextCursor: rows.length > PAGE && last !== undefined ? `${last.deletedAt}.${publicMessageId(last.id)}` : null,
    };
  },
});

/** Position after which a page begins: one command deletes many messages at one time. */
function positionOf(account: number, cursor: string): DeletedPosition {
  const [at = '', id = ''] = cursor.split('.');
  return { at: Number(at), email: rowIn('email', account, id) ?? 0 };
}

const MessageIds = z.array(Line(1, 40)).min(1).max(MAX_RESTORED).describe('Ids of messages').optional();

export const restoreDeleted = operation({
  name: 'restore_deleted_messages',
  title: 'Restore deleted messages',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'organize',
  peopleOnly: true,
  description:
    'Restores deleted messages to their folders with flags and threads: those named, or all deleted since a time.',
  hints: { idempotent: true },
  input: z.strictObject({
    ...MailboxArguments,
    messageIds: MessageIds,
    since: Time('Deleted since').optional(),
    drafts: ReplacedDrafts,
  }),
  output: z.object({
    restored: z.array(z.object({ messageId: z.string(), folder: z.string() })),
    missing: z.array(z.string()),
    more: z.boolean(),
  }),
  async run(call, { messageIds, since, drafts, ...which }) {
    const box = await mailboxOf(call, which);
    const emails = await chosen(call, box, { messageIds, since, drafts });
    const done = await call.change(restoreDeletedMessages, { account: box.id, emails }, publicId('mailbox', box.id), {
      address: box.address,
      messages: emails.length,
    });
    if (done.overQuota)
      refuse('conflict', 'The mailbox is full: delete messages or raise its quota, then restore again.', {
        resource: 'mailbox',
      });
    return {
      restored: done.restored.map(({ id, folder }) => ({ messageId: publicMessageId(id), folder })),
      missing: done.missing.map((id) => publicMessageId(id)),
      more: messageIds === undefined && emails.length === MAX_RESTORED,
    };
  },
});

export const purgeDeleted = operation({
  name: 'purge_deleted_messages',
  title: 'Delete messages permanently',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  peopleOnly: true,
  description:
    'Deletes deleted messages at once instead of after the retention time: those named, or all. Cannot be undone.',
  hints: { destructive: true, idempotent: true },
  input: z.strictObject({ ...MailboxArguments, messageIds: MessageIds }),
  output: z.object({ purged: z.literal(true) }),
  async run(call, { messageIds, ...which }) {
    const box = await mailboxOf(call, which);
    const emails = messageIds === undefined ? null : rowsOf(box, messageIds);
    await emptyDeletedFolders(call, box);
    for (let more = true; more;) {
      const input = { account: box.id, emails };
      const done = await call.change(expireDeletedMessages, input, publicId('mailbox', box.id), {
        address: box.address,
      });
      if (done.kind === 'held') {
        return refuse('conflict', `${box.address} is under legal hold (${done.reason}): lift it first.`, {
          resource: 'hold',
        });
      }
      ({ more } = done);
    }
    await purgeMessages(call.store, purgeExpunged, { before: 1 });
    return { purged: true as const };
  },
});

/** Takes the messages out of large folders that were deleted, which the retention job has not done yet. */
async function emptyDeletedFolders({ store }: Call, { id: account }: Mailbox): Promise<void> {
  for (const { id } of await store.read(deletedMailboxes, { account })) {
    for (let left = 1; left > 0;) left = await store.writeSlice(purgeDeletedFolder, { account, mailbox: id });
  }
}

async function chosen(
  call: Call,
  box: Mailbox,
  { messageIds, since, drafts }: { messageIds: string[] | undefined; since: string | undefined; drafts: boolean },
): Promise<number[]> {
  if (messageIds !== undefined) return rowsOf(box, messageIds);
  if (since === undefined) {
    return refuse('invalid_arguments', 'Give messageIds or since.', {
      issues: [{ path: 'messageIds', message: 'missing' }],
    });
  }
  return call.store.scan(deletedSince, { account: box.id, since: Math.max(1, Date.parse(since)), drafts });
}

function rowsOf({ id }: Mailbox, messageIds: readonly string[]): number[] {
  return messageIds.map((one) => rowIn('email', id, one) ?? 0);
}
