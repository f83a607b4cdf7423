import {
  type CopyEmailResult,
  hasRoom,
  storeEmail,
  type StoreEmailResult,
} from '../../store/message/email-commands.ts';
import type { Actor } from '../../store/actor.ts';
import { MessageWriter, type WrittenMessage } from '../../store/blob/message-writer.ts';
import { blobId, jmapId } from '../core/ids.ts';
import type { JmapContext } from '../core/method.ts';
import { done, type SetOutcome, SetRefusal } from '../standard/standard-set.ts';
import type { EmailPlacing } from './email-object.ts';
import { mailboxNotFound, tooManyKeywords } from './mailbox-ids.ts';
import type { StateTrack } from '../standard/state-track.ts';

/** Server-set properties of a created email. RFC 8621 4.6, 4.8. */
export type CreatedEmail = Record<string, unknown> & { id: string; blobId: string; threadId: string; size: number };

/** Placing of a message to store. `receivedAt` is called after the last octet. */
export interface EmailToStore extends Omit<EmailPlacing, 'receivedAt'> {
  account: number;
  /** The agent that stores it; undefined for a person or the password's owner `actor`. */
  by: string | undefined;
  actor: Actor | undefined;
  track: StateTrack;
  receivedAt: () => number;
}

/**
 * Streams a message into the store and places it. Throws {@link SetRefusal} for an invalid message and StoreBusy if the
 * store cannot write now; nothing is left in both cases.
 */
export async function saveEmail(
  context: JmapContext,
  octets: AsyncIterable<Buffer>,
  saving: EmailToStore,
): Promise<SetOutcome<CreatedEmail>> {
  const { account, by = null, actor, mailboxes, flags, track, receivedAt } = saving;
  const busy = context.store.unavailable();
  if (busy !== undefined) throw busy;
  const writer = new MessageWriter(context.store);
  await writeAll(octets, writer, context.maxMessageBytes);
  const place = (message: WrittenMessage): Promise<StoreEmailResult> => {
    const where = { account, by, actor, mailboxes, flags, receivedAt: receivedAt(), ifState: track.expected };
    return context.store.write(storeEmail, { ...where, ...message });
  };
  const placed = await writer.finish(place, (outcome) => outcome.kind === 'placed');
  return createdEmailOutcome(placed, account, track);
}

async function writeAll(octets: AsyncIterable<Buffer>, writer: MessageWriter, most: number): Promise<void> {
  try {
    for await (const chunk of octets) {
      await writer.write(chunk);
      if (writer.size > most) throw tooLarge(most);
    }
  } catch (error) {
    writer.abort();
    throw error;
  }
}

/** Checks the quota before a long message is written in vain. */
export async function checkQuota(context: JmapContext, account: number, more: number): Promise<void> {
  if (!(await context.store.read(hasRoom, { account, more }))) throw overQuota();
}

/** Converts a store result into the method's outcome. */
export function createdEmailOutcome(
  placed: CopyEmailResult,
  account: number,
  track: StateTrack,
): SetOutcome<CreatedEmail> {
  switch (placed.kind) {
    case 'placed': {
      track.advance(placed);
      const { email, thread, size } = placed;
      const id = jmapId('email', email);
      return done({ id, blobId: blobId({ kind: 'message', email }), threadId: jmapId('thread', thread), size });
    }
    case 'state-mismatch':
      throw track.mismatch();
    case 'missing':
    case 'over-quota':
    case 'too-many-keywords':
    case 'forbidden':
    case 'not-found':
      return refuseStored(placed, account);
  }
}

/** Throws the SetError for an email that was not stored. */
export function refuseStored(
  why: Exclude<CopyEmailResult, { kind: 'placed' | 'state-mismatch' }>,
  account: number,
): never {
  switch (why.kind) {
    case 'missing':
      throw mailboxNotFound(why.mailboxes[0] ?? account);
    case 'over-quota':
      throw overQuota();
    case 'too-many-keywords':
      throw tooManyKeywords();
    case 'forbidden':
      throw new SetRefusal('forbidden', `${why.why}.`);
    case 'not-found':
      throw new SetRefusal('notFound', 'The source account has no such email.');
  }
}

function overQuota(): SetRefusal {
  return new SetRefusal('overQuota', 'The mailbox quota would be exceeded. Delete mail first.');
}

/** The tooLarge error. RFC 8620 5.3. */
export function tooLarge(most: number): SetRefusal {
  return new SetRefusal('tooLarge', `The email would exceed the maximum size of ${most} octets.`);
}
