import { bodyOf } from '../../message/body-of.ts';
import type { MessageRow } from '../needs.ts';
import { flagList, internalDate } from '../wire/encoder.ts';
import { MessageContent, type Content } from './content.ts';
import type { FetchRequest, SimpleItem } from './items.ts';

/** One message to be rendered. `row` may be missing when the request reads the view only. */
export interface FetchedMessage {
  seq: number;
  uid: number;
  flags: readonly string[];
  row?: MessageRow;
  /** Octets of trace and blob together, clipped to what is there. */
  bytes?(start: number, length: number): Promise<Buffer>;
  /** Called when the stored message turns out shorter than promised. */
  onShort?(promised: number, found: number): void;
}

/** Octets of a literal that are in memory at once. */
const CHUNK = 256 * 1024;

/** The whole `* n FETCH (...)` line for a request that reads no content. latin1. */
export function renderLine(request: FetchRequest, message: FetchedMessage): string {
  let line = `* ${message.seq} FETCH (`;
  let first = true;
  for (const item of request.items) {
    if (item.kind === 'section') throw new Error('renderFetch renders content');
    line += first ? simple(item, message) : ` ${simple(item, message)}`;
    first = false;
  }
  return `${line})\r\n`;
}

/**
 * The response in pieces: latin1 strings and Buffers of at most 256 KiB. The length of a literal is always exactly what
 * follows: a message that is shorter than promised, its blob being damaged, is announced as it is when its end is seen
 * in time, and filled with spaces otherwise. When `bytes` rejects, the response breaks off: close the connection.
 */
export async function* renderFetch(request: FetchRequest, message: FetchedMessage): AsyncGenerator<string | Buffer> {
  const content = new MessageContent(rowOf(message), (start, length) => readBytes(message, start, length));
  let text = `* ${message.seq} FETCH (`;
  let first = true;
  for (const item of request.items) {
    if (!first) text += ' ';
    first = false;
    if (item.kind !== 'section') {
      text += simple(item, message);
      continue;
    }
    text += `${item.name} `;
    for await (const piece of literal(await content.open(item), message)) {
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

async function* literal(content: Content, message: FetchedMessage): AsyncGenerator<string | Buffer> {
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
  const wanted = Math.min(length, CHUNK);
  const beginning = wanted === 0 ? Buffer.alloc(0) : await readBytes(message, start, wanted);
  if (beginning.length < wanted) message.onShort?.(length, beginning.length);
  // The end is seen before anything was promised.
  if (beginning.length < wanted || wanted === length) return yield* octets(beginning);
  yield `{${length}}\r\n`;
  yield beginning;
  for (let at = wanted; at < length; at += CHUNK) {
    const size = Math.min(CHUNK, length - at);
    const chunk = await readBytes(message, start + at, size);
    if (chunk.length > 0) yield chunk;
    if (chunk.length === size) continue;
    message.onShort?.(length, at + chunk.length);
    return yield* spaces(length - at - chunk.length);
  }
}

function* spaces(count: number): Generator<Buffer> {
  const blank = Buffer.alloc(Math.min(count, CHUNK), ' ');
  for (let left = count; left > 0; left -= CHUNK) yield blank.subarray(0, left);
}

// Never more than asked for: one octet too many would be read as protocol.
async function readBytes(message: FetchedMessage, start: number, length: number): Promise<Buffer> {
  if (message.bytes === undefined) throw new Error('The request reads content');
  const chunk = await message.bytes(start, length);
  return chunk.length > length ? chunk.subarray(0, length) : chunk;
}

function simple({ kind }: SimpleItem, message: FetchedMessage): string {
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
      return `BODY ${bodyOf(structureOf(message).bodyStructure)}`;
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
