import { z } from 'zod';
import { namedAddresses } from '../../../mail/message/named-address.ts';
import { readEnvelope } from '../../../mail/message/stored-envelope.ts';
import {
  deletedSince,
  expireDeletedMessages,
  listDeletedMessages,
  MAX_RESTORED,
  restoreDeletedMessages,
} from '../../../mail/store/retention/deleted-mail.ts';
import { purgeExpunged } from '../../../mail/store/retention/purge.ts';
import { publicMessageId, rowIn } from '../../core/message-ids.ts';
import { publicId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { isoOf, Line, nextCursor, Time } from '../../core/schemas.ts';
import { MailboxArguments } from '../mailboxes/shown.ts';
import { mailboxOf, type Mailbox } from '../scope.ts';

const PAGE = 100;

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
    cursor: z
      .string()
      .regex(/^\d{1,15}$/)
      .describe('nextCursor of the previous page')
      .optional(),
  }),
  output: z.object({ messages: z.array(z.looseObject({ messageId: z.string() })), nextCursor }),
  async run(call, { since, cursor, ...which }) {
    const { id: account } = await mailboxOf(call, which);
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
    const from = since === undefined ? 1 : Date.parse(since);
    const rows = await call.store.scan(listDeletedMessages, { account, since: from, before, limit: PAGE });
    return {
      messages: rows.map((row) => ({
        messageId: publicMessageId(row.id),
        folder: row.folder,
        subject: row.subject,
        from: namedAddresses(readEnvelope(row.envelope).from ?? [])[0]?.email ?? '',
        size: row.size,
        receivedAt: isoOf(row.receivedAt),
        deletedAt: isoOf(row.deletedAt),
      })),
      nextCursor: rows.length === PAGE ? String(rows.at(-1)?.deletedAt) : null,
    };
  },
});

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
  input: z.strictObject({ ...MailboxArguments, messageIds: MessageIds, since: Time('Deleted since').optional() }),
  output: z.object({
    restored: z.array(z.object({ messageId: z.string(), folder: z.string() })),
    missing: z.array(z.string()),
    more: z.boolean(),
  }),
  async run(call, { messageIds, since, ...which }) {
    const box = await mailboxOf(call, which);
    const emails = await chosen(call, box, messageIds, since);
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
    for (let more = true; more;) {
      const done = await call.store.writeSlice(purgeExpunged, { before: 1 });
      for (const file of done.files) await call.store.files.remove(file);
      ({ more } = done);
    }
    return { purged: true as const };
  },
});

async function chosen(
  call: Call,
  box: Mailbox,
  messageIds: readonly string[] | undefined,
  since: string | undefined,
): Promise<number[]> {
  if (messageIds !== undefined) return rowsOf(box, messageIds);
  if (since === undefined) {
    return refuse('invalid_arguments', 'Give messageIds or since.', {
      issues: [{ path: 'messageIds', message: 'missing' }],
    });
  }
  return call.store.scan(deletedSince, { account: box.id, since: Date.parse(since) });
}

function rowsOf({ id }: Mailbox, messageIds: readonly string[]): number[] {
  return messageIds.map((one) => rowIn('email', id, one) ?? 0);
}
