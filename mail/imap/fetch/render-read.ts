import type { MessageRow } from '../imap-store.ts';
import { MessageContent, type SectionRange, selectItemFields } from './content.ts';
import { isSectionItem, type SectionItem } from './items.ts';
import { type FetchResponse, renderSimple } from './render.ts';

type WritePiece = (piece: string | Buffer) => void;

/**
 * Writes the whole response of a message whose octets were read, as {@link renderFetch} does without waiting. False,
 * with nothing written: some of the octets are missing.
 */
export function writeRead({ request, message }: FetchResponse, blob: Buffer, write: WritePiece): boolean {
  const { row } = message;
  if (row === undefined) throw new Error('The request reads the row');
  const content = new MessageContent(row, noBytes);
  const ranges = request.items.map((item) => (isSectionItem(item) ? content.locate(item) : undefined));
  const end = row.content.trace.length + blob.length;
  if (ranges.some((range) => range !== undefined && range.start + range.length > end)) return false;
  write(message.head);
  for (const [at, item] of request.items.entries()) {
    if (at > 0) write(' ');
    if (isSectionItem(item)) writeSection(item, { row, blob, range: ranges[at] }, write);
    else if (item.kind !== 'binary' && item.kind !== 'binary-size') write(renderSimple(item, message));
  }
  write(')\r\n');
  return true;
}

interface ReadSection {
  row: MessageRow;
  blob: Buffer;
  range: SectionRange | undefined;
}

function writeSection(item: SectionItem, read: ReadSection, write: WritePiece): void {
  if (read.range === undefined) return write(`${item.name} NIL`);
  const pieces = piecesOf(read.row.content.trace, read.blob, read.range);
  if (item.section.fields === undefined) return writeLiteral(item.name, pieces, write);
  writeLiteral(item.name, [selectItemFields(item, Buffer.concat(pieces))], write);
}

/** The part of the range in the trace, and that in the blob. */
function piecesOf(trace: string, blob: Buffer, { start, length }: SectionRange): Buffer[] {
  const end = start + length;
  const body = blob.subarray(Math.max(0, start - trace.length), Math.max(0, end - trace.length));
  return start < trace.length ? [Buffer.from(trace.slice(start, end), 'latin1'), body] : [body];
}

function writeLiteral(name: string, pieces: readonly Buffer[], write: WritePiece): void {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length === 0) return write(`${name} ""`);
  write(`${name} {${length}}\r\n`);
  for (const piece of pieces) write(piece);
}

function noBytes(): never {
  throw new Error('the octets of this message were read before');
}
