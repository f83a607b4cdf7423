import { yieldToEventLoop } from '../../limits/event-loop.ts';
import { MessageIndexer } from '../../message/indexer.ts';
import { type Part, unpackParts } from '../../message/parts.ts';
import { decodeStream } from '../../message/transfer-stream.ts';
import { findJmapUpload } from '../../store/blob/jmap-upload.ts';
import { BlobUnreadable } from '../../store/blob/unreadable.ts';
import { type StoredParts, storedParts } from '../../store/blob/stored-part.ts';
import { redacted } from '../../agents/quarantine/redact.ts';
import type { SharingLogin } from '../../store/mailbox/acl.ts';
import { mayReadSharedEmail } from '../../store/message/shared-emails.ts';
import type { BlobRef } from '../core/ids.ts';
import type { MethodCall, JmapContext } from '../core/method.ts';
import { isHumanReader } from '../redact.ts';

/** Octets read at once. */
const CHUNK_BYTES = 256 * 1024;
/** Maximum size of a blob that is parsed for a part inside it. */
const MAX_OUTER_BYTES = 32 * 1024 * 1024;
/** Octets that one call reads only to open blobs: encoded parts are decoded for their size, attached messages parsed. */
export const MAX_OPENED_BYTES = 256 * 1024 * 1024;
const ENCODED = new Set(['base64', 'quoted-printable']);

/** Octets with a blob id: a raw message, a decoded part or an upload. */
export interface JmapBlob {
  /** Exact, in octets. */
  size: number;
  /** Declared media type; application/octet-stream by default. */
  type: string;
  /** Streams from `start` to `end` (exclusive) in chunks; whole blobs are never in memory. */
  stream(start: number, end: number): AsyncIterable<Buffer>;
}

/** Charged before octets are read; throws when exceeded. */
export interface OctetBudget {
  take(octets: number): void;
}

const UNLIMITED: OctetBudget = { take: () => undefined };

/** Options for opening a blob. */
interface Opening {
  /** Programs get only the header of a quarantined message. */
  isHuman: boolean;
  budget: OctetBudget;
}

/**
 * Opens a blob of an account; undefined if the account has no such blob. RFC 8620 6.2. The size of an encoded part is
 * known only after decoding it, so callers that open many pass a budget.
 */
async function openBlob(
  context: JmapContext,
  account: number,
  ref: BlobRef,
  opening: Opening,
): Promise<JmapBlob | undefined> {
  if (ref.kind === 'upload') return openUpload(context, account, ref.upload);
  if (ref.kind === 'inner') return openInner(context, account, ref, opening);
  const whole = await context.store.read(storedParts, { account, email: ref.email });
  if (whole === undefined) return undefined;
  const message = { ...whole, redactedFrom: opening.isHuman ? null : whole.redactedFrom };
  if (ref.kind === 'message') {
    const stream = (start: number, end: number): AsyncIterable<Buffer> => stored(context, message, start, end);
    return { size: message.size, type: 'message/rfc822', stream };
  }
  const part = partOf(message, ref.path);
  return part && openPart(context, message, part, opening.budget);
}

/**
 * Opens a blob for the caller to read, and records the read; undefined if the account has no such blob. RFC 8620 6.2.
 * The size of an encoded part is known only after decoding it, so callers that open many pass a budget. Whole messages
 * need {@link mayReadSource}.
 */
export async function openReadableBlob(
  call: Pick<MethodCall, 'context' | 'session'>,
  account: number,
  ref: BlobRef,
  budget: OctetBudget = UNLIMITED,
): Promise<JmapBlob | undefined> {
  if (ref.kind === 'message' && !mayReadSource(call, account)) return undefined;
  const email = emailOf(ref);
  const shared = [...call.session.accounts.values()].find((one) => one.account === account)?.shared;
  // Uploads of the owner are not shared.
  const isShared = shared !== undefined;
  if (isShared && (email === undefined || !(await mayReadShared(call.context, shared, account, email))))
    return undefined;
  if (email !== undefined) await call.session.onRead?.({ account, emails: [email], depth: 'downloaded' });
  const upload = uploadOf(ref);
  if (upload !== undefined) await call.session.onWords?.({ account, kinds: [uploadWords(upload)], written: false });
  try {
    const blob = await openBlob(call.context, account, ref, { isHuman: await isHumanReader(call, account), budget });
    if (blob !== undefined) await checkEnds(blob);
    return blob;
  } catch (error) {
    // Logged by the store. As if it did not exist: half of a file must not become a new message or upload.
    if (error instanceof BlobUnreadable) return undefined;
    throw error;
  }
}

function mayReadShared({ store }: JmapContext, login: SharingLogin, owner: number, email: number): Promise<boolean> {
  return store.read(mayReadSharedEmail, { login, owner, email });
}

/** Reads the last octet, so that a missing or cut off file is found before anything is sent. */
async function checkEnds(blob: JmapBlob): Promise<void> {
  // Encoded parts were decoded whole to find their size.
  for await (const _ of blob.stream(blob.size - 1, blob.size)) return;
}

/** Checks whether the session may download whole messages of an account. */
export function mayReadSource({ session }: Pick<MethodCall, 'session'>, account: number): boolean {
  return [...session.accounts.values()].some((one) => one.account === account && one.mayReadSource !== false);
}

/** The email that contains a blob, at any depth; undefined for uploads. */
export function emailOf(ref: BlobRef): number | undefined {
  if (ref.kind === 'inner') return emailOf(ref.of);
  return ref.kind === 'upload' ? undefined : ref.email;
}

function uploadOf(ref: BlobRef): number | undefined {
  if (ref.kind === 'inner') return uploadOf(ref.of);
  return ref.kind === 'upload' ? ref.upload : undefined;
}

/** Kind of the words of one upload, which another agent of the account may read. */
export function uploadWords(upload: number): `upload-${number}` {
  return `upload-${upload}`;
}

/** Checks that the account has a blob; reads octets only for parts of attached messages, and charges them. */
export async function blobExists(
  context: JmapContext,
  account: number,
  ref: BlobRef,
  budget: OctetBudget,
): Promise<boolean> {
  if (ref.kind === 'upload') {
    return (
      (await context.store.read(findJmapUpload, { account, upload: ref.upload, now: context.clock() })) !== undefined
    );
  }
  if (ref.kind === 'inner') return (await openInner(context, account, ref, { isHuman: true, budget })) !== undefined;
  const message = await context.store.read(storedParts, { account, email: ref.email });
  return message !== undefined && (ref.kind === 'message' || partOf(message, ref.path) !== undefined);
}

function partOf({ parts }: Pick<StoredParts, 'parts'>, path: string): Part | undefined {
  return parts.find((part) => part.path === path && part.type !== 'multipart');
}

async function openUpload(context: JmapContext, account: number, upload: number): Promise<JmapBlob | undefined> {
  const found = await context.store.read(findJmapUpload, { account, upload, now: context.clock() });
  if (found === undefined) return undefined;
  const whole = { trace: '', blob: found.blob, redactedFrom: null, size: found.size };
  return { size: found.size, type: found.type, stream: (start, end) => stored(context, whole, start, end) };
}

function openPart(context: JmapContext, message: StoredParts, part: Part, budget: OctetBudget): Promise<JmapBlob> {
  // Part offsets do not include the recipient's trace fields before the stored octets.
  const own = message.trace.length;
  return partFrom((start, end) => stored(context, message, own + start, own + end), part, budget);
}

/** Opens a part of a message inside another blob, which is read whole. */
async function openInner(
  context: JmapContext,
  account: number,
  { of, path }: BlobRef & { kind: 'inner' },
  opening: Opening,
): Promise<JmapBlob | undefined> {
  const outer = await openBlob(context, account, of, opening);
  if (outer === undefined || outer.size > MAX_OUTER_BYTES) return undefined;
  opening.budget.take(outer.size);
  const indexer = new MessageIndexer();
  for await (const piece of outer.stream(0, outer.size)) {
    indexer.push(piece);
    await yieldToEventLoop(account);
  }
  const part = partOf({ parts: unpackParts(indexer.end().parts) }, path);
  return part && partFrom((start, end) => outer.stream(start, end), part, opening.budget);
}

async function partFrom(octets: JmapBlob['stream'], part: Part, budget: OctetBudget): Promise<JmapBlob> {
  const from = part.bodyOffset;
  const raw = (): AsyncIterable<Buffer> => octets(from, from + part.bodyLength);
  const type = `${part.type}/${part.subtype}`;
  if (!ENCODED.has(part.encoding)) {
    const stream = (start: number, end: number): AsyncIterable<Buffer> =>
      octets(from + start, from + Math.min(end, part.bodyLength));
    return { size: part.bodyLength, type, stream };
  }
  budget.take(part.bodyLength);
  let size = 0;
  for await (const piece of decodeStream(raw(), part.encoding)) size += piece.length;
  return { size, type, stream: (start, end) => cut(decodeStream(raw(), part.encoding), start, end) };
}

/** Streams the stored octets of a message or upload. */
async function* stored(
  { store }: JmapContext,
  { trace, blob, redactedFrom, size }: Pick<StoredParts, 'trace' | 'blob' | 'redactedFrom' | 'size'>,
  start: number,
  end: number,
): AsyncIterable<Buffer> {
  const last = Math.min(end, size);
  if (start < trace.length && start < last) yield Buffer.from(trace.slice(start, last), 'latin1');
  for (let at = Math.max(start, trace.length); at < last;) {
    const piece = await store.blob(blob, at - trace.length, Math.min(CHUNK_BYTES, last - at));
    yield redactedFrom === null ? piece : redacted(piece, at - trace.length, redactedFrom);
    at += piece.length;
  }
}

async function* cut(pieces: AsyncIterable<Buffer>, start: number, end: number): AsyncIterable<Buffer> {
  let at = 0;
  for await (const piece of pieces) {
    const wanted = piece.subarray(Math.max(0, start - at), Math.max(0, end - at));
    if (wanted.length > 0) yield wanted;
    at += piece.length;
    if (at >= end) return;
  }
}

/** Reads a whole small blob; undefined if it is larger than `most`. */
export async function smallBlob(blob: JmapBlob, most: number): Promise<Buffer | undefined> {
  if (blob.size > most) return undefined;
  const pieces: Buffer[] = [];
  for await (const piece of blob.stream(0, blob.size)) pieces.push(piece);
  return Buffer.concat(pieces);
}
