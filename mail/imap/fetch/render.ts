import { bodyFromStructure } from '../../message/body-from-structure.ts';
import { jmapId } from '../../store/object-id.ts';
import { BlobUnreadable } from '../../store/blob/unreadable.ts';
import type { MessageRow } from '../imap-store.ts';
import { internalDate, string } from '../wire/encoder.ts';
import {
  countDecoded,
  decodedRange,
  decodeWhole,
  isDecodable,
  isIdentity,
  MAX_DECODED_AT_ONCE,
  type EncodedPart,
} from './binary.ts';
import { MessageContent, type SectionContent } from './content.ts';
import type { BinaryItem, FetchItem, FetchRequest, SectionItem, SimpleItem } from './items.ts';

/** One message to render. `row` may be missing when the request reads only the view. */
export interface FetchedMessage {
  /** Begin of the response: `* 3 FETCH (`. */
  head: string;
  uid: number;
  /** Flags in parentheses. */
  flags: string;
  modseq: number;
  row?: MessageRow;
  /** Octets of trace and blob joined, clipped to their end. */
  bytes?(start: number, length: number): Promise<Buffer>;
  /** Called when the stored message is damaged: fewer octets were found than promised. */
  onShort?(promised: number, found: number): void;
  /** Called when a part has a transfer encoding that is not known: its BINARY is NIL. RFC 3516 4.3. */
  onUnknownEncoding?(): void;
}

/** A message, and what its response contains. */
export interface FetchResponse {
  request: FetchRequest;
  message: FetchedMessage;
}

/** Octets of a literal in memory at once. */
const CHUNK = 256 * 1024;

/** The whole `* n FETCH (...)` line for a request that reads no content. latin1. */
export function renderLine(request: FetchRequest, message: FetchedMessage): string {
  let line = message.head;
  let first = true;
  for (const item of request.items) {
    if (!isSimple(item)) throw new Error('renderFetch renders content');
    line += first ? renderSimple(item, message) : ` ${renderSimple(item, message)}`;
    first = false;
  }
  return `${line})\r\n`;
}

/**
 * The response in pieces: latin1 strings and Buffers of at most 256 KiB, or 1 MiB of a decoded part. A literal always has exactly the announced
 * length: a message with a damaged, shorter blob is announced with its real length when that is seen in the first chunk,
 * and padded with spaces otherwise; one that cannot be read at all is NIL.
 */
export async function* renderFetch(request: FetchRequest, message: FetchedMessage): AsyncGenerator<string | Buffer> {
  const content = new MessageContent(rowOf(message), (start, length) => readBytes(message, start, length));
  let text = message.head;
  let first = true;
  for (const item of request.items) {
    if (!first) text += ' ';
    first = false;
    if (isSimple(item)) {
      text += renderSimple(item, message);
      continue;
    }
    text += `${item.name} `;
    for await (const piece of itemPieces(content, item, message)) {
      if (typeof piece === 'string') text += piece;
      else {
        yield text;
        yield piece;
        text = '';
      }
    }
  }
  yield `${text})\r\n`;
}

function isSimple(item: FetchItem): item is SimpleItem {
  return item.kind !== 'section' && item.kind !== 'binary' && item.kind !== 'binary-size';
}

async function* itemPieces(
  content: MessageContent,
  item: Exclude<FetchItem, SimpleItem>,
  message: FetchedMessage,
): AsyncGenerator<string | Buffer> {
  if (item.kind === 'section') return yield* literal(await openReadable(content, item, message), message);
  if (item.kind === 'binary-size' && item.section.what !== 'all') {
    const section: SectionItem = { ...item, kind: 'section', peek: true };
    return yield `${lengthOf(await openReadable(content, section, message))}`;
  }
  const part = content.encoded(item.kind === 'binary' ? item.path : item.section.path);
  if (part !== undefined && isDecodable(part.encoding)) {
    if (item.kind === 'binary') yield* binaryLiteral(part, item, message);
    else yield `${await decodedLength(part, message)}`;
    return;
  }
  if (part !== undefined) message.onUnknownEncoding?.();
  yield item.kind === 'binary' ? 'NIL' : '0';
}

/** A literal8 of a part without its transfer encoding. RFC 3516 4.3. */
async function* binaryLiteral(
  part: EncodedPart,
  { partial }: BinaryItem,
  message: FetchedMessage,
): AsyncGenerator<string | Buffer> {
  const { start, length, encoding } = part;
  const { offset, length: most } = partial ?? { offset: 0, length: Infinity };
  if (isIdentity(encoding)) {
    const from = Math.min(offset, length);
    return yield* range(start + from, Math.min(most, length - from), message, '~');
  }
  if (length <= MAX_DECODED_AT_ONCE) {
    const encoded = await readRest(message, start, length);
    if (encoded.length < length) message.onShort?.(length, encoded.length);
    const decoded = await decodeWhole(encoded, encoding);
    return yield* octets(decoded.subarray(offset, offset + most), '~');
  }
  const from = Math.min(offset, await decodedLength(part, message));
  const count = Math.min(most, (await decodedLength(part, message)) - from);
  yield `~{${count}}\r\n`;
  yield* decodedRange(encodedPieces(part, message), encoding, { offset: from, length: count });
}

async function decodedLength(part: EncodedPart, message: FetchedMessage): Promise<number> {
  if (isIdentity(part.encoding)) return part.length;
  part.decodedLength ??= await countDecoded(encodedPieces(part, message), part.encoding);
  return part.decodedLength;
}

async function* encodedPieces({ start, length }: EncodedPart, message: FetchedMessage): AsyncGenerator<Buffer> {
  for (let at = 0; at < length; at += CHUNK) {
    const size = Math.min(CHUNK, length - at);
    const chunk = await readRest(message, start + at, size);
    if (chunk.length > 0) yield chunk;
    if (chunk.length === size) continue;
    return message.onShort?.(length, at + chunk.length);
  }
}

async function openReadable(
  content: MessageContent,
  item: SectionItem,
  message: FetchedMessage,
): Promise<SectionContent> {
  try {
    return await content.open(item);
  } catch (error) {
    if (!(error instanceof BlobUnreadable)) throw error;
    message.onShort?.(rowOf(message).size, 0);
    return { kind: 'nil' };
  }
}

function lengthOf(content: SectionContent): number {
  if (content.kind === 'nil') return 0;
  return content.kind === 'octets' ? content.octets.length : content.length;
}

async function* literal(content: SectionContent, message: FetchedMessage): AsyncGenerator<string | Buffer> {
  if (content.kind === 'nil') yield 'NIL';
  else if (content.kind === 'octets') yield* octets(content.octets);
  else yield* range(content.start, content.length, message);
}

/** `prefix`: `~` for a literal8. */
function* octets(all: Buffer, prefix = ''): Generator<string | Buffer> {
  if (all.length === 0) yield '""';
  else {
    yield `${prefix}{${all.length}}\r\n`;
    yield all;
  }
}

async function* range(
  start: number,
  length: number,
  message: FetchedMessage,
  prefix = '',
): AsyncGenerator<string | Buffer> {
  const first = Math.min(length, CHUNK);
  const beginning = first === 0 ? Buffer.alloc(0) : await readRest(message, start, first);
  if (beginning.length < first) message.onShort?.(length, beginning.length);
  if (beginning.length === 0 && first > 0) return yield 'NIL';
  // The end is in the first chunk: the real length is announced.
  if (beginning.length < first || first === length) return yield* octets(beginning, prefix);
  yield `${prefix}{${length}}\r\n`;
  yield beginning;
  for (let at = first; at < length; at += CHUNK) {
    const size = Math.min(CHUNK, length - at);
    const chunk = await readRest(message, start + at, size);
    if (chunk.length > 0) yield chunk;
    if (chunk.length === size) continue;
    message.onShort?.(length, at + chunk.length);
    return yield* spaces(length - at - chunk.length);
  }
}

/** Octets of a literal; empty when they cannot be read. */
function readRest(message: FetchedMessage, start: number, length: number): Promise<Buffer> {
  return readBytes(message, start, length).catch((error: unknown) => {
    if (error instanceof BlobUnreadable) return Buffer.alloc(0);
    throw error;
  });
}

function* spaces(count: number): Generator<Buffer> {
  const blank = Buffer.alloc(Math.min(count, CHUNK), ' ');
  for (let rest = count; rest > 0; rest -= CHUNK) yield blank.subarray(0, rest);
}

// Never more than requested: an extra octet would be parsed as protocol.
async function readBytes(message: FetchedMessage, start: number, length: number): Promise<Buffer> {
  if (message.bytes === undefined) throw new Error('The request reads content');
  const chunk = await message.bytes(start, length);
  return chunk.length > length ? chunk.subarray(0, length) : chunk;
}

/** An item without octets of the message, with its name. latin1. */
export function renderSimple({ kind }: SimpleItem, message: FetchedMessage): string {
  switch (kind) {
    case 'uid':
      return `UID ${message.uid}`;
    case 'flags':
      return `FLAGS ${message.flags}`;
    case 'modseq':
      return `MODSEQ (${message.modseq})`;
    case 'internaldate':
      return `INTERNALDATE ${internalDate(rowOf(message).receivedAt)}`;
    case 'emailid':
      return `EMAILID (${jmapId('email', rowOf(message).emailId)})`;
    case 'threadid':
      return `THREADID (${jmapId('thread', rowOf(message).threadId)})`;
    case 'savedate':
      return `SAVEDATE ${saveDate(rowOf(message))}`;
    case 'preview':
      return `PREVIEW ${string(Buffer.from(rowOf(message).preview ?? '').toString('latin1'))}`;
    case 'size':
      return `RFC822.SIZE ${rowOf(message).size}`;
    case 'envelope':
      return `ENVELOPE ${structureOf(message).envelope}`;
    case 'bodystructure':
      return `BODYSTRUCTURE ${structureOf(message).bodyStructure}`;
    case 'body':
      return `BODY ${bodyFromStructure(structureOf(message).bodyStructure)}`;
  }
}

function saveDate({ savedAt }: MessageRow): string {
  return savedAt === null ? 'NIL' : internalDate(savedAt);
}

function rowOf(message: FetchedMessage): MessageRow {
  if (message.row === undefined) throw new Error('The request reads the row');
  return message.row;
}

function structureOf(message: FetchedMessage): NonNullable<MessageRow['structure']> {
  const { structure } = rowOf(message);
  if (structure === undefined) throw new Error('The request reads the structure');
  return structure;
}
