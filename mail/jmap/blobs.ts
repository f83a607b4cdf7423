import { setImmediate as turn } from 'node:timers/promises';
import { MessageIndexer } from '../message/indexer.ts';
import { type Part, unpackParts } from '../message/parts.ts';
import { decodeStream } from '../message/transfer-stream.ts';
import { findUpload } from '../store/jmap-upload.ts';
import { type StoredParts, storedParts } from '../store/stored-part.ts';
import { veiled } from '../store/veil.ts';
import type { BlobRef } from './ids.ts';
import type { Call, JmapDesk } from './method.ts';
import { asksPerson } from './veil.ts';

/** What is read at a time. */
const PIECE = 256 * 1024;
/** A larger blob is not opened for a part of the message that it holds. */
const MOST_OPENED = 32 * 1024 * 1024;
const ENCODED = new Set(['base64', 'quoted-printable']);

/** Octets that have a blob id: a message as it came, a part with its transfer encoding taken off, an upload. */
export interface JmapBlob {
  /** Exact, in octets. */
  size: number;
  /** Media type as declared; application/octet-stream when nobody said. */
  type: string;
  /** From `start` up to and without `end`, in pieces; whole blobs never lie in memory at once. */
  stream(start: number, end: number): AsyncIterable<Buffer>;
}

/** Asked before octets are read; throws when they are too many. */
export interface Budget {
  take(octets: number): void;
}

const FREE: Budget = { take: () => undefined };

/** How a blob is opened. */
interface Opening {
  /** Of a message that acts for a person only a person is shown more than its header. */
  isPerson: boolean;
  budget: Budget;
}

/**
 * Opens a blob of an account; undefined when the account has none such. RFC 8620 6.2: readable only through it. How long
 * an encoded part is shows only when all of it is decoded: who opens many gives a budget.
 */
async function openBlob(
  desk: JmapDesk,
  account: number,
  ref: BlobRef,
  opening: Opening,
): Promise<JmapBlob | undefined> {
  if (ref.kind === 'upload') return openUpload(desk, account, ref.upload);
  if (ref.kind === 'inner') return openInner(desk, account, ref, opening);
  const whole = await desk.store.read(storedParts, { account, email: ref.email });
  if (whole === undefined) return undefined;
  const message = { ...whole, veiledFrom: opening.isPerson ? null : whole.veiledFrom };
  if (ref.kind === 'message') {
    const stream = (start: number, end: number): AsyncIterable<Buffer> => stored(desk, message, start, end);
    return { size: message.size, type: 'message/rfc822', stream };
  }
  const part = partOf(message, ref.path);
  return part && openPart(desk, message, part, opening.budget);
}

/**
 * Opens a blob of an account for somebody who is about to see its octets, or to make something of them; undefined when the
 * account has none such. RFC 8620 6.2: readable only through it. How long an encoded part is shows only when all of it is
 * decoded: who opens many gives a budget. A whole message is not there for who does not see its source.
 */
export async function openShown(
  call: Pick<Call, 'desk' | 'session'>,
  account: number,
  ref: BlobRef,
  budget: Budget = FREE,
): Promise<JmapBlob | undefined> {
  if (ref.kind === 'message' && !seesSource(call, account)) return undefined;
  const email = emailOf(ref);
  if (email !== undefined) {
    await call.session.shown?.(account, [email]);
    await call.session.opened?.(account, [email], 'octets');
  }
  return openBlob(call.desk, account, ref, { isPerson: await asksPerson(call, account), budget });
}

/** Whether who asks may have messages of an account as they came: octets are for programs that keep or pass on mail. */
export function seesSource({ session }: Pick<Call, 'session'>, account: number): boolean {
  return [...session.accounts.values()].some((one) => one.account === account && one.seesSource !== false);
}

/** The message that a blob is of; undefined for uploads. */
function emailOf(ref: BlobRef): number | undefined {
  if (ref.kind === 'inner') return emailOf(ref.of);
  return ref.kind === 'upload' ? undefined : ref.email;
}

/** Whether the account has a blob; nothing of it is read but of what is inside of others. */
export async function blobExists(desk: JmapDesk, account: number, ref: BlobRef): Promise<boolean> {
  if (ref.kind === 'upload') {
    return (await desk.store.read(findUpload, { account, upload: ref.upload, now: desk.clock() })) !== undefined;
  }
  if (ref.kind === 'inner')
    return (await openInner(desk, account, ref, { isPerson: true, budget: FREE })) !== undefined;
  const message = await desk.store.read(storedParts, { account, email: ref.email });
  return message !== undefined && (ref.kind === 'message' || partOf(message, ref.path) !== undefined);
}

function partOf({ parts }: Pick<StoredParts, 'parts'>, path: string): Part | undefined {
  return parts.find((part) => part.path === path && part.type !== 'multipart');
}

async function openUpload(desk: JmapDesk, account: number, upload: number): Promise<JmapBlob | undefined> {
  const found = await desk.store.read(findUpload, { account, upload, now: desk.clock() });
  if (found === undefined) return undefined;
  const whole = { trace: '', blob: found.blob, veiledFrom: null, size: found.size };
  return { size: found.size, type: found.type, stream: (start, end) => stored(desk, whole, start, end) };
}

function openPart(desk: JmapDesk, message: StoredParts, part: Part, budget: Budget): Promise<JmapBlob> {
  // Offsets count from the indexed octets; what stands before them is this recipient's own.
  const own = message.trace.length;
  return partFrom((start, end) => stored(desk, message, own + start, own + end), part, budget);
}

/** A part of the message that another blob holds, which is read for it. */
async function openInner(
  desk: JmapDesk,
  account: number,
  { of, path }: BlobRef & { kind: 'inner' },
  opening: Opening,
): Promise<JmapBlob | undefined> {
  const outer = await openBlob(desk, account, of, opening);
  if (outer === undefined || outer.size > MOST_OPENED) return undefined;
  opening.budget.take(outer.size);
  const indexer = new MessageIndexer();
  for await (const piece of outer.stream(0, outer.size)) {
    indexer.push(piece);
    await turn();
  }
  const part = partOf({ parts: unpackParts(indexer.end().parts) }, path);
  return part && partFrom((start, end) => outer.stream(start, end), part, opening.budget);
}

async function partFrom(octets: JmapBlob['stream'], part: Part, budget: Budget): Promise<JmapBlob> {
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

/** Octets of a message or upload as they are stored. */
async function* stored(
  { store }: JmapDesk,
  { trace, blob, veiledFrom, size }: Pick<StoredParts, 'trace' | 'blob' | 'veiledFrom' | 'size'>,
  start: number,
  end: number,
): AsyncIterable<Buffer> {
  const last = Math.min(end, size);
  if (start < trace.length && start < last) yield Buffer.from(trace.slice(start, last), 'latin1');
  for (let at = Math.max(start, trace.length); at < last;) {
    const piece = await store.blob(blob, at - trace.length, Math.min(PIECE, last - at));
    if (piece.length === 0) throw new Error(`blob ${blob} ends before its size`);
    yield veiledFrom === null ? piece : veiled(piece, at - trace.length, veiledFrom);
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

/** All octets of a blob that is known to be small; undefined when it is larger than `most`. */
export async function smallBlob(blob: JmapBlob, most: number): Promise<Buffer | undefined> {
  if (blob.size > most) return undefined;
  const pieces: Buffer[] = [];
  for await (const piece of blob.stream(0, blob.size)) pieces.push(piece);
  return Buffer.concat(pieces);
}
