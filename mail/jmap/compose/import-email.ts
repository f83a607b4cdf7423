import { parseDate } from '../../message/date.ts';
import { readFields } from '../../message/header.ts';
import { LIMITS } from '../../message/limits.ts';
import { text, wrong } from '../arguments.ts';
import { openShown } from '../blobs.ts';
import { blobRef } from '../ids.ts';
import type { JmapDesk } from '../method.ts';
import { SetRefusal } from '../set-refusal.ts';
import type { Outcome } from '../standard-set.ts';
import { readPlacing } from './email-object.ts';
import type { Asked } from './mailboxes.ts';
import { checkRoom, type MadeEmail, saveEmail, tooLarge } from './save-email.ts';
import type { StateTrack } from '../state-track.ts';

type Given = Readonly<Record<string, unknown>>;

const KNOWN = new Set(['blobId', 'mailboxIds', 'keywords', 'receivedAt']);

/** Makes an email of a blob: an upload, a message, or one attached to a message. RFC 8621 4.8. */
export async function importEmail(
  desk: JmapDesk,
  asked: Asked,
  track: StateTrack,
  given: Given,
): Promise<Outcome<MadeEmail>> {
  const odd = Object.keys(given).find((name) => !KNOWN.has(name));
  if (odd !== undefined) throw wrong(odd, 'is no property of an import');
  const { mailboxes, flags, receivedAt } = readPlacing(asked, given);
  const ref = blobRef(asked.account, text(given['blobId'], 'blobId'));
  const blob = ref === undefined ? undefined : await openShown(asked.call, asked.account, ref);
  if (blob === undefined) throw wrong('blobId', 'names no blob of this account: upload it first');
  if (blob.size > desk.maxMessageBytes) throw tooLarge(desk.maxMessageBytes);
  await checkRoom(desk, asked.account, blob.size);
  const head = new Head();
  return saveEmail(desk, head.of(blob.stream(0, blob.size)), {
    account: asked.account,
    by: asked.call.session.agent,
    hand: asked.hand,
    mailboxes,
    flags,
    track,
    receivedAt: () => receivedAt ?? head.receivedAt() ?? desk.clock(),
  });
}

/** The beginning of a message on its way through. */
class Head {
  #text = '';

  /** Throws `invalidEmail` once it is clear that this is no message. */
  async *of(octets: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const chunk of octets) {
      if (this.#text.length < LIMITS.header) this.#text += chunk.toString('latin1', 0, LIMITS.header);
      yield chunk;
    }
    // An mbox line may stand before the first field.
    const [first, second] = readFields(this.#text, 2);
    const field = first?.name === '' && this.#text.startsWith('From ') ? second : first;
    if (field === undefined || !/^[\x21-\x39\x3b-\x7e]{1,76}$/.test(field.name)) {
      throw new SetRefusal('invalidEmail', 'The blob is no message: it does not begin with a header field.');
    }
  }

  /** When the newest server on its way took it, ms UTC. RFC 5321 4.4: the last comes first. */
  receivedAt(): number | undefined {
    const newest = readFields(this.#text, LIMITS.fields).find(({ name }) => name === 'received')?.value;
    return newest === undefined ? undefined : parseDate(newest.slice(newest.lastIndexOf(';') + 1))?.at;
  }
}
