import { blobRef } from '../../mail/jmap/core/ids.ts';
import type { ComposedAttachment } from '../../mail/message/compose-message.ts';
import { decodeTransfer } from '../../mail/message/decode.ts';
import type { Part } from '../../mail/message/parts.ts';
import { threadOf } from '../../mail/store/message/conversation.ts';
import { type StoredParts, storedParts } from '../../mail/store/blob/stored-part.ts';
import { accountIn, jmapForm } from '../core/message-ids.ts';
import { rowId } from '../core/ids.ts';
import { refuse } from '../core/refusal.ts';
import type { AppContext } from '../core/app-context.ts';
import { messageText } from '../reading/message-text.ts';
import { loadMessages } from '../reading/summary.ts';
import { refuseQuarantined, quarantineReason } from '../reading/quarantine.ts';
import type { EmailRequest } from './email-request.ts';
import type { ApiSender } from './key-auth.ts';
import { findUpload } from './upload-commands.ts';

type AttachmentRequest = EmailRequest['attachments'][number];
interface ResolvedFile {
  content: Buffer;
  filename: string;
  contentType: string;
  contentId?: string | undefined;
}

/**
 * Resolves the attachments of a request: inline content, uploads, or parts of messages that the sender may read (by
 * reference, without a download).
 */
export async function attachedFiles(
  world: AppContext,
  sender: ApiSender,
  given: readonly AttachmentRequest[],
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

interface AttachmentSlot {
  path: string;
  /** Octets left for this file. */
  room: number;
}

async function fileOf(
  world: AppContext,
  sender: ApiSender,
  given: AttachmentRequest,
  where: AttachmentSlot,
): Promise<ResolvedFile> {
  if (given.attachmentId !== undefined) return partOf(world, sender, given.attachmentId, where);
  if (given.uploadId !== undefined) return uploadOf(world, sender, given.uploadId, where);
  const content = Buffer.from(given.content ?? '', 'base64');
  return { content, filename: '', contentType: 'application/octet-stream' };
}

async function uploadOf(
  { store, clock }: AppContext,
  { credential }: ApiSender,
  uploadId: string,
  { path }: AttachmentSlot,
): Promise<ResolvedFile> {
  const found = await store.read(findUpload, { credential, name: uploadId, now: clock() });
  if (found === undefined) missing(`${path}.uploadId`, 'this key has no such upload, or it has expired');
  const { blob, size, filename, contentType } = found;
  return { content: await store.blob(blob, 0, size), filename, contentType: contentType || 'application/octet-stream' };
}

/** Reads a part of a message (`m12_1a-2`) or a whole message (`m12_1a`) of the sending mailbox. */
async function partOf(
  world: AppContext,
  { reads, limits, agent }: ApiSender,
  id: string,
  where: AttachmentSlot,
): Promise<ResolvedFile> {
  const path = `${where.path}.attachmentId`;
  if (reads === undefined) {
    const message = 'requires a token that may read the sending mailbox';
    return refuse('invalid_arguments', `${path} ${message}.`, { issues: [{ path, message }] });
  }
  const ref = (accountIn(id) ?? reads) === reads ? blobRef(reads, jmapForm(id)) : undefined;
  const email = ref?.kind === 'message' || ref?.kind === 'part' ? ref.email : 0;
  const stored = (await isWithin(world, reads, email, limits?.thread ?? null))
    ? await world.store.read(storedParts, { account: reads, email })
    : undefined;
  if (ref === undefined || stored === undefined) return missing(path, 'the sending mailbox has no such attachment');
  await checkQuarantine(world, reads, email);
  const token = rowId('token', agent ?? '');
  // Whoever reads the file is to be tainted by its message, though the agent attaches it unread.
  if (token !== undefined)
    await world.agents.onRead({ token }, { account: reads, emails: [email], depth: 'sent' }, 'an attachment');
  if (ref.kind === 'message') return wholeMessage(world, stored, where);
  const part = stored.parts.find((one) => ref.kind === 'part' && one.path === ref.path && one.type !== 'multipart');
  if (part === undefined) return missing(path, 'the sending mailbox has no such attachment');
  return decodedPart(world, stored, part, where);
}

/** Refuses quarantined content: programs must not forward what they may not read. */
async function checkQuarantine(world: AppContext, account: number, email: number): Promise<void> {
  const { store } = world;
  const [known] = (await loadMessages(store, { id: account, address: '' }, [email], true)) ?? tooLarge(world);
  const why = known && quarantineReason(known, await messageText(world, known.row));
  if (why !== undefined) refuseQuarantined(why);
}

/** A token limited to one conversation may not attach parts of others. */
async function isWithin(
  { store }: AppContext,
  account: number,
  email: number,
  thread: number | null,
): Promise<boolean> {
  return thread === null || (await store.read(threadOf, { account, email })) === thread;
}

async function wholeMessage(
  world: AppContext,
  { blob, size, trace }: StoredParts,
  { room }: AttachmentSlot,
): Promise<ResolvedFile> {
  const length = size - trace.length;
  if (length > room) tooLarge(world);
  const content = await world.store.blob(blob, 0, length);
  return { content, filename: 'message.eml', contentType: 'message/rfc822' };
}

async function decodedPart(
  world: AppContext,
  { blob }: StoredParts,
  part: Part,
  { room }: AttachmentSlot,
): Promise<ResolvedFile> {
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

/** Sanitizes a filename from a remote sender for our header: one line, no path. */
function safeName(name: string): string {
  const line = name.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\\/]+/g, '_').toWellFormed();
  return line.trim().slice(0, 255);
}

function missing(path: string, why: string): never {
  return refuse('not_found', `${path}: ${why}.`, { issues: [{ path, message: 'does not exist' }] });
}

function tooLarge({ settings }: AppContext): never {
  return refuse('too_large', 'The attachments exceed the size limit of a message. Send fewer or smaller files.', {
    maxBytes: settings.maxMessageBytes,
  });
}
