import { bodyFromStructure } from '../../message/body-from-structure.ts';
import { BlobUnreadable } from '../../store/blob/unreadable.ts';
import type { MessageRow } from '../imap-store.ts';
import { flagList, internalDate } from '../wire/encoder.ts';
import { MessageContent, type SectionContent } from './content.ts';
import type { FetchRequest, SectionItem, SimpleItem } from './items.ts';

/** One message to render. `row` may be missing when the request reads only the view. */
export interface FetchedMessage {
  seq: number;
  uid: number;
  flags: readonly string[];
  row?: MessageRow;
  /** Octets of trace and blob joined, clipped to their end. */
  bytes?(start: number, length: number): Promise<Buffer>;
  /** Called when the stored message is damaged: fewer octets were found than promised. */
  onShort?(promised: number, found: number): void;
}

/** Octets of a literal in memory at once. */
const CHUNK = 256 * 1024;

/** The whole `* n FETCH (...)` line for a request that reads no content. latin1. */
export function renderLine(request: FetchRequest, message: FetchedMessage): string {
  let line = `* ${message.seq} FETCH (`;
  let first = true;
  for (const item of request.items) {
    if (item.kind === 'section') throw new Error('renderFetch renders content');
    line += first ? renderSimple(item, message) : ` ${renderSimple(item, message)}`;
    first = false;
  }
  return `${line})\r\n`;
}

/**
 * The response in pieces: latin1 strings and Buffers of at most 256 KiB. A literal always has exactly the announced
 * length: a message with a damaged, shorter blob is announced with its real length when that is seen in the first chunk,
 * and padded with spaces otherwise; one that cannot be read at all is NIL.
 */
export async function* renderFetch(request: FetchRequest, message: FetchedMessage): AsyncGenerator<string | Buffer> {
  const content = new MessageContent(rowOf(message), (start, length) => readBytes(message, start, length));
  let text = `* ${message.seq} FETCH (`;
  let first = true;
  for (const item of request.items) {
    if (!first) text += ' ';
    first = false;
    if (item.kind !== 'section') {
      text += renderSimple(item, message);
      continue;
    }
    text += `${item.name} `;
    for await (const piece of literal(await openReadable(content, item, message), message)) {
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

async function* literal(content: SectionContent, message: FetchedMessage): AsyncGenerator<string | Buffer> {
  if (content.kind === 'nil') yield 'NIL';
  else if (content.kind === 'octets') yield* octets(content.octets);
  else yield* range(content.start, content.length, message);
}

function* octets(all: Buffer): Generator<string | Buffer> {
  if (all.length === 0) yield '""';
  else {
    yield `{${all.length}}\r\n`;
    yield all;
  }
}

async function* range(start: number, length: number, message: FetchedMessage): AsyncGenerator<string | Buffer> {
  const first = Math.min(length, CHUNK);
  const beginning = first === 0 ? Buffer.alloc(0) : await readRest(message, start, first);
  if (beginning.length < first) message.onShort?.(length, beginning.length);
  if (beginning.length === 0 && first > 0) return yield 'NIL';
  // The end is in the first chunk: the real length is announced.
  if (beginning.length < first || first === length) return yield* octets(beginning);
  yield `{${length}}\r\n`;
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

function renderSimple({ kind }: SimpleItem, message: FetchedMessage): string {
  switch (kind) {
    case 'uid':
      return `UID ${message.uid}`;
    case 'flags':
      return `FLAGS ${flagList(message.flags)}`;
    case 'internaldate':
      return `INTERNALDATE ${internalDate(rowOf(message).receivedAt)}`;
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

function rowOf(message: FetchedMessage): MessageRow {
  if (message.row === undefined) throw new Error('The request reads the row');
  return message.row;
}

function structureOf(message: FetchedMessage): NonNullable<MessageRow['structure']> {
  const { structure } = rowOf(message);
  if (structure === undefined) throw new Error('The request reads the structure');
  return structure;
}
