import { type CopyEmailResult, hasRoom, placeEmail, type PlaceResult } from '../../store/email-commands.ts';
import type { Hand } from '../../store/hand.ts';
import { MessageWriter, type WrittenMessage } from '../../store/message-writer.ts';
import { blobId, jmapId } from '../ids.ts';
import type { JmapDesk } from '../method.ts';
import { SetRefusal } from '../set-refusal.ts';
import { done, type Outcome } from '../standard-set.ts';
import type { Placing } from './email-object.ts';
import { tooManyKeywords } from './keywords.ts';
import { noMailbox } from './mailboxes.ts';
import type { StateTrack } from '../state-track.ts';

/** What the client does not know of an email that was made. RFC 8621 4.6, 4.8. */
export type MadeEmail = Record<string, unknown> & { id: string; blobId: string; threadId: string; size: number };

/** Where a message goes, and how. `receivedAt` is asked for when the last octet is there. */
export interface Saving extends Omit<Placing, 'receivedAt'> {
  account: number;
  /** The agent that writes it; undefined: a person, or who has the password `hand`. */
  by: string | undefined;
  hand: Hand | undefined;
  track: StateTrack;
  receivedAt: () => number;
}

/**
 * Takes a message into the store as its octets come, and places it. Throws {@link SetRefusal} for what is wrong with it,
 * StoreBusy when nothing can be taken now; then nothing of it is left.
 */
export async function saveEmail(
  desk: JmapDesk,
  octets: AsyncIterable<Buffer>,
  saving: Saving,
): Promise<Outcome<MadeEmail>> {
  const { account, by = null, hand, mailboxes, flags, track, receivedAt } = saving;
  const busy = desk.store.unavailable();
  if (busy !== undefined) throw busy;
  const writer = new MessageWriter(desk.store);
  await pour(octets, writer, desk.maxMessageBytes);
  const place = (message: WrittenMessage): Promise<PlaceResult> => {
    const where = { account, by, hand, mailboxes, flags, receivedAt: receivedAt(), ifState: track.expected };
    return desk.store.write(placeEmail, { ...where, ...message });
  };
  const placed = await writer.finish(place, (outcome) => outcome.kind === 'placed');
  return made(placed, account, track);
}

async function pour(octets: AsyncIterable<Buffer>, writer: MessageWriter, most: number): Promise<void> {
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

/** Told before a long message is written for nothing. */
export async function checkRoom(desk: JmapDesk, account: number, more: number): Promise<void> {
  if (!(await desk.store.read(hasRoom, { account, more }))) throw overQuota();
}

/** What became of an email as its method answers it. */
export function made(placed: CopyEmailResult, account: number, track: StateTrack): Outcome<MadeEmail> {
  switch (placed.kind) {
    case 'placed': {
      track.took(placed);
      const { email, thread, size } = placed;
      const id = jmapId('email', email);
      return done({ id, blobId: blobId({ kind: 'message', email }), threadId: jmapId('thread', thread), size });
    }
    case 'missing':
      throw noMailbox(placed.mailboxes[0] ?? account);
    case 'over-quota':
      throw overQuota();
    case 'too-many-keywords':
      throw tooManyKeywords();
    case 'forbidden':
      throw new SetRefusal('forbidden', `${placed.why}.`);
    case 'not-found':
      throw new SetRefusal('notFound', 'There is no such email in the account that is copied from.');
    case 'state-mismatch':
      throw track.mismatch();
  }
}

function overQuota(): SetRefusal {
  return new SetRefusal('overQuota', 'The account has no room for this: delete something first.');
}

/** RFC 8620 5.3. */
export function tooLarge(most: number): SetRefusal {
  return new SetRefusal('tooLarge', `The email would be larger than ${most} octets, which is the most here.`);
}
