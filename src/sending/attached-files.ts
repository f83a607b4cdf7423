import { blobRef } from '../../mail/jmap/ids.ts';
import type { ComposedAttachment } from '../../mail/message/compose-message.ts';
import { decodeTransfer } from '../../mail/message/decode.ts';
import type { Part } from '../../mail/message/parts.ts';
import { threadOf } from '../../mail/store/conversation.ts';
import { type StoredParts, storedParts } from '../../mail/store/stored-part.ts';
import { refuse } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { messageText } from '../reading/message-text.ts';
import { knownMessages } from '../reading/summary.ts';
import { refuseWithheld, whyWithheld } from '../reading/withheld.ts';
import type { EmailRequest } from './email-request.ts';
import type { Sender } from './key-auth.ts';
import { findUpload } from './upload-commands.ts';

type Given = EmailRequest['attachments'][number];
interface Found {
  content: Buffer;
  filename: string;
  contentType: string;
  contentId?: string | undefined;
}

/**
 * The files that a request names: given with it, put here before, or parts of messages that the sender may read, whose
 * octets nobody has to carry back and forth.
 */
export async function attachedFiles(
  world: World,
  sender: Sender,
  given: readonly Given[],
): Promise<ComposedAttachment[]> {
  const files: ComposedAttachment[] = [];
  let room = world.settings.maxMessageBytes;
  for (const [i, one] of given.entries()) {
    const found = await fileOf(world, sender, one, { path: `attachments.${i}`, room });
    room -= found.content.length;
    if (room < 0) tooLarge(world);
    files.push({
      content: found.content,
      filename: one.filename ?? (safeName(found.filename) || 'attachment'),
      contentType: one.contentType ?? found.contentType,
      contentId: one.contentId ?? found.contentId,
    });
  }
  return files;
}

interface Where {
  path: string;
  /** Octets that are left for this one. */
  room: number;
}

async function fileOf(world: World, sender: Sender, given: Given, where: Where): Promise<Found> {
  if (given.attachmentId !== undefined) return partOf(world, sender, given.attachmentId, where);
  if (given.uploadId !== undefined) return uploadOf(world, sender, given.uploadId, where);
  const content = Buffer.from(given.content ?? '', 'base64');
  return { content, filename: '', contentType: 'application/octet-stream' };
}

async function uploadOf(
  { store, clock }: World,
  { credential }: Sender,
  uploadId: string,
  { path }: Where,
): Promise<Found> {
  const found = await store.read(findUpload, { credential, name: uploadId, now: clock() });
  if (found === undefined) missing(`${path}.uploadId`, 'there is no such upload of this key, or it has expired');
  const { blob, size, filename, contentType } = found;
  return { content: await store.blob(blob, 0, size), filename, contentType: contentType || 'application/octet-stream' };
}

/** A part of a message (`m1a-2`), or a whole one (`m1a`), of the mailbox that sends. */
async function partOf(world: World, { reads, limits }: Sender, id: string, where: Where): Promise<Found> {
  const path = `${where.path}.attachmentId`;
  if (reads === undefined) {
    const message = 'is for tokens that may read the mailbox that sends';
    return refuse('invalid_arguments', `${path} ${message}.`, { issues: [{ path, message }] });
  }
  const ref = blobRef(reads, id);
  const email = ref?.kind === 'message' || ref?.kind === 'part' ? ref.email : 0;
  const stored = (await isWithin(world, reads, email, limits?.thread ?? null))
    ? await world.store.read(storedParts, { account: reads, email })
    : undefined;
  if (ref === undefined || stored === undefined) return missing(path, 'the mailbox that sends has no such attachment');
  await notWithheld(world, reads, email);
  if (ref.kind === 'message') return wholeMessage(world, stored, where);
  const part = stored.parts.find((one) => ref.kind === 'part' && one.path === ref.path && one.type !== 'multipart');
  if (part === undefined) return missing(path, 'the mailbox that sends has no such attachment');
  return decodedPart(world, stored, part, where);
}

/** What a program is not shown it hands on to nobody. */
async function notWithheld(world: World, account: number, email: number): Promise<void> {
  const { store } = world;
  const [known] = (await knownMessages(store, { id: account, address: '' }, [email], true)) ?? tooLarge(world);
  const why = known && whyWithheld(known, await messageText(world, known.row));
  if (why !== undefined) refuseWithheld(why);
}

/** A token that is for one conversation hands on nothing of others. */
async function isWithin({ store }: World, account: number, email: number, thread: number | null): Promise<boolean> {
  return thread === null || (await store.read(threadOf, { account, email })) === thread;
}

async function wholeMessage(world: World, { blob, size, trace }: StoredParts, { room }: Where): Promise<Found> {
  const length = size - trace.length;
  if (length > room) tooLarge(world);
  const content = await world.store.blob(blob, 0, length);
  return { content, filename: 'message.eml', contentType: 'message/rfc822' };
}

async function decodedPart(world: World, { blob }: StoredParts, part: Part, { room }: Where): Promise<Found> {
  if (part.decodedLength > room) tooLarge(world);
  const octets = await world.store.blob(blob, part.bodyOffset, part.bodyLength);
  const type = `${part.type}/${part.subtype}`;
  return {
    content: decodeTransfer(octets, part.encoding),
    filename: part.filename,
    contentType: /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type : 'application/octet-stream',
    ...(part.disposition !== 'attachment' && /^[\w.@+-]{1,120}$/.test(part.contentId) && { contentId: part.contentId }),
  };
}

/** What a stranger called it goes into a header of ours: one line, no path. */
function safeName(name: string): string {
  const line = name.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\\/]+/g, '_').toWellFormed();
  return line.trim().slice(0, 255);
}

function missing(path: string, why: string): never {
  return refuse('not_found', `${path}: ${why}.`, { issues: [{ path, message: 'is not there' }] });
}

function tooLarge({ settings }: World): never {
  return refuse('too_large', 'The attachments are larger together than a message that this server sends.', {
    maxBytes: settings.maxMessageBytes,
  });
}
