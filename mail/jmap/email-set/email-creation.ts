import { LIMITS } from '../../message/limits.ts';
import { type JmapBlob, openReadableBlob } from '../blob/blobs.ts';
import { blobRef } from '../core/ids.ts';
import { maxSizeAttachmentsPerEmail } from '../core/capabilities.ts';
import type { JmapContext } from '../core/method.ts';
import { type SetOutcome, SetRefusal } from '../standard/standard-set.ts';
import { readEmail } from './email-object.ts';
import type { EmailTarget } from './mailbox-ids.ts';
import type { PartPlan } from './part-plan.ts';
import { checkQuota, type CreatedEmail, saveEmail } from './email-storage.ts';
import type { StateTrack } from '../standard/state-track.ts';
import { writeEmail } from './mime-writer.ts';

/** Builds and stores the message of an Email object. RFC 8621 4.6. */
export async function createEmail(
  context: JmapContext,
  target: EmailTarget,
  track: StateTrack,
  given: Readonly<Record<string, unknown>>,
): Promise<SetOutcome<CreatedEmail>> {
  const { header, body, mailboxes, flags, receivedAt } = readEmail(target, given);
  if ([...header.lines.values()].reduce((sum, lines) => sum + lines.length, 0) > LIMITS.header / 2) {
    throw new SetRefusal('tooLarge', `The header would exceed ${LIMITS.header / 2} octets.`);
  }
  const blobs = await openBlobs(target, body);
  const size = [...bodyParts(body)].reduce((sum, { body: one }) => sum + sizeOf(one, blobs), 0);
  await checkQuota(context, target.account, size);
  const now = context.clock();
  return saveEmail(context, writeEmail({ header, body, blobs, now, hostname: context.hostname }), {
    account: target.account,
    by: target.call.session.agent,
    actor: target.actor,
    mailboxes,
    flags,
    track,
    receivedAt: () => receivedAt ?? now,
  });
}

/** Opens the blobs of all parts; reports all missing ones. RFC 8621 4.6. */
async function openBlobs({ call, account, opening }: EmailTarget, body: PartPlan): Promise<Map<string, JmapBlob>> {
  const blobs = new Map<string, JmapBlob>();
  const missing: string[] = [];
  const most = maxSizeAttachmentsPerEmail(call.context.maxMessageBytes);
  let attached = 0;
  const ids = [...bodyParts(body)].flatMap((part) => (part.body.kind === 'blob' ? [part.body.blobId] : []));
  for (const [id, uses] of Map.groupBy(ids, (one) => one)) {
    const ref = blobRef(account, id);
    const blob = ref === undefined ? undefined : await openReadableBlob(call, account, ref, opening);
    if (blob === undefined) missing.push(id);
    else blobs.set(id, blob);
    attached += (blob?.size ?? 0) * uses.length;
    // Checked before the next blob: opening a part may decode it.
    if (attached > most) throw new SetRefusal('tooLarge', `The attachments exceed ${most} octets in total.`);
  }
  if (missing.length > 0) {
    throw new SetRefusal('blobNotFound', `No blob ${missing[0]}. Upload it first.`, { notFound: missing });
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
