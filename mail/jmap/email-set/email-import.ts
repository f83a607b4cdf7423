import { parseDate } from '../../message/date.ts';
import { readFields } from '../../message/header.ts';
import { LIMITS } from '../../message/limits.ts';
import { MAX_OPENED_BYTES, openReadableBlob } from '../blob/blobs.ts';
import { access } from '../core/access.ts';
import { mapOf, nullable, object, plainObject, text, wrong } from '../core/arguments.ts';
import { MAIL } from '../core/capabilities.ts';
import { blobRef } from '../core/ids.ts';
import { actorOf, type JmapContext, type JmapMethod } from '../core/method.ts';
import { ReadBudget } from '../email/header-values.ts';
import { catchRefusal, checkCount, createEach, type SetOutcome, SetRefusal } from '../standard/standard-set.ts';
import { StateTrack } from '../standard/state-track.ts';
import { readEmailPlacing } from './email-object.ts';
import { checkQuota, type CreatedEmail, saveEmail, tooLarge } from './email-storage.ts';
import type { EmailTarget } from './mailbox-ids.ts';

/** Email/import. RFC 8621 4.8. */
export const emailImport: JmapMethod = {
  name: 'Email/import',
  capability: MAIL,
  async run(call, args) {
    const read = object({ accountId: access(call, 'write'), ifInState: nullable(text), emails: mapOf(plainObject) })(
      args,
      '',
    );
    checkCount(call, read.emails.size);
    const opening = new ReadBudget(MAX_OPENED_BYTES);
    const target = { call, account: read.accountId.account, actor: actorOf(read.accountId), opening };
    const track = await StateTrack.begin(call.context.store, target.account, read.ifInState);
    const created = await createEach(call, read.emails, (given) =>
      catchRefusal(call.context.log, () => importEmail(call.context, target, track, given)),
    );
    return { accountId: args['accountId'], ...track.states, ...created };
  },
};

type Given = Readonly<Record<string, unknown>>;

const KNOWN = new Set(['blobId', 'mailboxIds', 'keywords', 'receivedAt']);

/** Creates an email from a blob: an upload, a message or an attached message. RFC 8621 4.8. */
async function importEmail(
  context: JmapContext,
  target: EmailTarget,
  track: StateTrack,
  given: Given,
): Promise<SetOutcome<CreatedEmail>> {
  const odd = Object.keys(given).find((name) => !KNOWN.has(name));
  if (odd !== undefined) throw wrong(odd, 'is not a property of EmailImport');
  const { mailboxes, flags, receivedAt } = readEmailPlacing(target, given);
  const ref = blobRef(target.account, text(given['blobId'], 'blobId'));
  const blob = ref === undefined ? undefined : await openReadableBlob(target.call, target.account, ref, target.opening);
  if (blob === undefined) throw wrong('blobId', 'is not a blob of this account. Upload it first');
  if (blob.size > context.maxMessageBytes) throw tooLarge(context.maxMessageBytes);
  await checkQuota(context, target.account, blob.size);
  const probe = new HeaderProbe();
  return saveEmail(context, probe.of(blob.stream(0, blob.size)), {
    account: target.account,
    by: target.call.session.agent,
    actor: target.actor,
    mailboxes,
    flags,
    track,
    receivedAt: () => receivedAt ?? probe.receivedAt() ?? context.clock(),
  });
}

/** Captures the header of a message while it is streamed. */
class HeaderProbe {
  #text = '';

  /** Throws `invalidEmail` if the octets do not begin with a header field. */
  async *of(octets: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const chunk of octets) {
      if (this.#text.length < LIMITS.header) this.#text += chunk.toString('latin1', 0, LIMITS.header);
      yield chunk;
    }
    // An mbox "From " line may precede the first field.
    const [first, second] = readFields(this.#text, 2);
    const field = first?.name === '' && this.#text.startsWith('From ') ? second : first;
    if (field === undefined || !/^[\x21-\x39\x3b-\x7e]{1,76}$/.test(field.name)) {
      throw new SetRefusal('invalidEmail', 'The blob is not a message: it does not begin with a header field.');
    }
  }

  /** Time of the topmost Received field, which is the newest; ms UTC. RFC 5321 4.4. */
  receivedAt(): number | undefined {
    const newest = readFields(this.#text, LIMITS.fields).find(({ name }) => name === 'received')?.value;
    return newest === undefined ? undefined : parseDate(newest.slice(newest.lastIndexOf(';') + 1))?.at;
  }
}
