import { hash } from 'node:crypto';
import { headerFields, MAX_FIELD_HEADER } from '../../mail/transfer/mbox-fields.ts';
import { isUnreadable } from '../../mail/store/blob/unreadable.ts';
import { MessageWriter } from '../../mail/store/blob/message-writer.ts';
import { lookup } from '../../mail/store/engine/types.ts';
import { appendMessage, type AppendResult } from '../../mail/store/mailbox/entry-commands.ts';
import { createMailbox, listMailboxes } from '../../mail/store/mailbox/mailbox.ts';
import type { MailStore } from '../../mail/store/store.ts';
import type { RestoredMail, RestoredMessage } from './restored-mailbox.ts';

/** Messages of one call; a large one counts as more. */
const STEP = 50;

/** Result of one step. */
export interface RestoreStep {
  restored: number;
  /** Messages that the mailbox has already, in any folder. */
  present: number;
  /** Messages that could not be stored, with the reason. */
  skipped: number;
  reason: string | null;
  /** Position to go on; null: all are done. */
  next: { mailbox: number; uid: number } | null;
}

/** Messages of an account that arrived at a time, in folders that exist. Folders are few, and each has an index by time. */
export const messagesAt = lookup(
  'messages-at',
  (rx, input: { account: number; receivedAt: number }): Promise<{ blob: number; size: number }[]> =>
    rx.all<{ blob: number; size: number }>(
      `SELECT c.id AS blob, c.size FROM mailbox b JOIN entry n ON n.mailbox_id = b.id JOIN email e ON e.id = n.email_id
         JOIN blob c ON c.id = e.blob_id
       WHERE b.account_id = ? AND b.deleted_at IS NULL AND n.received_at = ? LIMIT 1000`,
      input.account,
      input.receivedAt,
    ),
);

/**
 * Puts messages of a restored mailbox back that the account does not have any more, or has damaged. `messageId`: only those
 * with this Message-ID.
 */
export async function restoreStep(
  store: MailStore,
  account: number,
  from: RestoredMail,
  position: { mailbox: number; uid: number },
  messageId?: string,
): Promise<RestoreStep> {
  const messages = from.after(position.mailbox, position.uid, STEP);
  const step: RestoreStep = { restored: 0, present: 0, skipped: 0, reason: null, next: null };
  for (const message of messages) {
    step.next = { mailbox: message.mailbox, uid: message.uid };
    if (messageId !== undefined && messageIdOf(message.octets) !== idWithin(messageId)) continue;
    if (await isPresent(store, account, message)) step.present++;
    else {
      const reason = await append(store, account, message);
      if (reason === undefined) step.restored++;
      else {
        step.skipped++;
        step.reason = reason;
      }
    }
  }
  return messages.length < STEP ? { ...step, next: null } : step;
}

function messageIdOf(octets: Buffer): string {
  return idWithin(headerFields(octets.subarray(0, MAX_FIELD_HEADER)).get('message-id') ?? '');
}

/** A Message-ID without its angle brackets, which shells take for redirections. */
function idWithin(text: string): string {
  return text.trim().replace(/^<(.*)>$/, '$1');
}

async function isPresent(store: MailStore, account: number, message: RestoredMessage): Promise<boolean> {
  const { receivedAt, blob, octets } = message;
  const hashes = [blob, octets].map((one) => hash('sha256', one, 'hex'));
  for (const found of await store.read(messagesAt, { account, receivedAt })) {
    if (found.size !== blob.length && found.size !== octets.length) continue;
    const stored = await store.blob(found.blob, 0, found.size).catch((error: unknown) => {
      if (!isUnreadable(error)) throw error;
    });
    if (stored !== undefined && hashes.includes(hash('sha256', stored, 'hex'))) return true;
  }
  return false;
}

/** Appends a message to its folder, which is created if it does not exist. Returns the reason of a refusal. */
async function append(store: MailStore, account: number, message: RestoredMessage): Promise<string | undefined> {
  const mailbox = await folderFor(store, account, message);
  if (mailbox === undefined) return `the folder ${message.folder} cannot be created`;
  const writer = new MessageWriter(store);
  await writer.write(message.octets);
  const { bits, keywords, receivedAt } = message;
  const flags = { bits, keywords };
  const result = await writer.finish(
    (written) => store.write(appendMessage, { account, mailbox, flags, receivedAt, ...written }),
    (outcome) => outcome.kind === 'appended',
  );
  return result.kind === 'appended' ? undefined : refusal(result);
}

function refusal(result: Exclude<AppendResult, { kind: 'appended' }>): string {
  switch (result.kind) {
    case 'missing':
      return 'the folder was deleted meanwhile';
    case 'over-quota':
      return 'the mailbox is full: raise its quota, then restore again';
    case 'too-many-keywords':
      return 'the message has too many keywords';
    case 'forbidden':
      return result.why;
  }
}

async function folderFor(
  store: MailStore,
  account: number,
  { folder, role }: RestoredMessage,
): Promise<number | undefined> {
  const all = await store.read(listMailboxes, { account });
  const found = all.find((one) => role !== null && one.role === role) ?? all.find((one) => one.name === folder);
  if (found !== undefined) return found.id;
  const made = await store.write(createMailbox, { account, name: folder, role: null });
  return made.kind === 'created' ? made.id : undefined;
}
