import { LIMITS } from '../../message/limits.ts';
import { type JmapBlob, openShown } from '../blobs.ts';
import { blobRef } from '../ids.ts';
import { maxSizeAttachmentsPerEmail } from '../limits.ts';
import type { JmapDesk } from '../method.ts';
import { SetRefusal } from '../set-refusal.ts';
import type { Outcome } from '../standard-set.ts';
import { readEmail } from './email-object.ts';
import type { Asked } from './mailboxes.ts';
import type { PartPlan } from './part.ts';
import { checkRoom, type MadeEmail, saveEmail } from './save-email.ts';
import type { StateTrack } from '../state-track.ts';
import { writeEmail } from './write-email.ts';

/** Writes and keeps the message that an Email object asks for. RFC 8621 4.6. */
export async function createEmail(
  desk: JmapDesk,
  asked: Asked,
  track: StateTrack,
  given: Readonly<Record<string, unknown>>,
): Promise<Outcome<MadeEmail>> {
  const { header, body, mailboxes, flags, receivedAt } = readEmail(asked, given);
  if ([...header.lines.values()].reduce((sum, lines) => sum + lines.length, 0) > LIMITS.header / 2) {
    throw new SetRefusal('tooLarge', `The header would be longer than ${LIMITS.header / 2} octets.`);
  }
  const blobs = await openBlobs(asked, body);
  const size = [...bodyParts(body)].reduce((sum, { body: one }) => sum + sizeOf(one, blobs), 0);
  await checkRoom(desk, asked.account, size);
  const now = desk.clock();
  return saveEmail(desk, writeEmail({ header, body, blobs, now, hostname: desk.hostname }), {
    account: asked.account,
    by: asked.call.session.agent,
    hand: asked.hand,
    mailboxes,
    flags,
    track,
    receivedAt: () => receivedAt ?? now,
  });
}

/** RFC 8621 4.6: all that are missing are named at once. */
async function openBlobs({ call, account }: Asked, body: PartPlan): Promise<Map<string, JmapBlob>> {
  const blobs = new Map<string, JmapBlob>();
  const missing: string[] = [];
  const most = maxSizeAttachmentsPerEmail(call.desk.maxMessageBytes);
  let attached = 0;
  const ids = [...bodyParts(body)].flatMap((part) => (part.body.kind === 'blob' ? [part.body.blobId] : []));
  for (const [id, uses] of Map.groupBy(ids, (one) => one)) {
    const ref = blobRef(account, id);
    const blob = ref === undefined ? undefined : await openShown(call, account, ref);
    if (blob === undefined) missing.push(id);
    else blobs.set(id, blob);
    attached += (blob?.size ?? 0) * uses.length;
    // Before the next: to open a part may mean to decode it.
    if (attached > most) throw new SetRefusal('tooLarge', `The attachments are larger than ${most} octets together.`);
  }
  if (missing.length > 0) {
    throw new SetRefusal('blobNotFound', `There is no blob ${missing[0]}: upload it first.`, { notFound: missing });
  }
  return blobs;
}

function sizeOf(body: PartPlan['body'], blobs: ReadonlyMap<string, JmapBlob>): number {
  if (body.kind === 'text') return Buffer.byteLength(body.value);
  return body.kind === 'blob' ? (blobs.get(body.blobId)?.size ?? 0) : 0;
}

function* bodyParts(part: PartPlan): Iterable<PartPlan> {
  yield part;
  if (part.body.kind === 'parts') for (const one of part.body.parts) yield* bodyParts(one);
}
