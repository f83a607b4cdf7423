import { decodeCharset } from '../../../message/decode.ts';
import { decodeWords } from '../../../message/encoded-word.ts';
import { readFields, unfold } from '../../../message/header.ts';
import { entities, htmlText } from '../../../message/html-text.ts';
import type { MessageIndex } from '../../../message/index-types.ts';
import { LIMITS } from '../../../message/limits.ts';
import { type Part, unpackParts } from '../../../message/parts.ts';
import { decodeStream } from '../../../message/transfer-stream.ts';
import type { SecretKind } from '../../../store/shown-secret.ts';
import { SecretScan, type Sought } from './scan.ts';

const PIECE = 256 * 1024;
/** Octets of the end of a piece that are looked at with the next one. */
const OVERLAP = 2048;
/** Their values are ids of other people's messages, some of which look like a token without its prefix. */
const FOREIGN_IDS: ReadonlySet<string> = new Set(['references', 'in-reply-to']);

/** A message as it is read for its secrets. */
export interface MessageToScan {
  index: MessageIndex;
  read: (start: number, length: number) => Promise<Buffer>;
  /** All who get it, those whom no field names among them. */
  recipients: readonly string[];
}

/**
 * The kinds of secrets that a message holds: in its fields, addresses and file names, in texts as they stand and as they
 * are shown, in attachments that hold text. What is packed (zip, pdf, office files), pictures and ciphers of one's own
 * are not looked into.
 */
export async function secretsIn(message: MessageToScan, sought: Sought): Promise<SecretKind[]> {
  const scan = new SecretScan(sought);
  const { index, read, recipients } = message;
  await scan.text(recipients.join('\n'));
  const parts = unpackParts(index.parts);
  for (const part of parts) await header(scan, part, read);
  for (const part of parts) {
    if (isLeaf(part)) await body(scan, part, read);
  }
  // Preambles, and what stands in no part.
  for await (const piece of overlapping(pieces(read, 0, index.size))) await scan.octets(piece);
  return [...scan.found];
}

function isLeaf({ type, subtype }: Part): boolean {
  return type !== 'multipart' && !(type === 'message' && (subtype === 'rfc822' || subtype === 'global'));
}

async function header(scan: SecretScan, part: Part, read: MessageToScan['read']): Promise<void> {
  const length = Math.min(part.bodyOffset - part.headerOffset, LIMITS.header);
  if (length > 0) await scan.text(`${fieldsText(await read(part.headerOffset, length))}\n${part.filename}`);
}

function fieldsText(octets: Buffer): string {
  const fields = readFields(octets.toString('latin1'), LIMITS.fields);
  return fields
    .filter(({ name }) => !FOREIGN_IDS.has(name))
    .map(({ value }) => decodeWords(unfold(value)))
    .join('\n');
}

async function body(scan: SecretScan, part: Part, read: MessageToScan['read']): Promise<void> {
  const raw = pieces(read, part.bodyOffset, part.bodyLength);
  for await (const piece of overlapping(decodeStream(raw, part.encoding))) {
    if (!isTextual(part, piece)) {
      await scan.octets(piece);
      continue;
    }
    const text = decodeCharset(piece, part.charset);
    await scan.text(text);
    if (!text.includes('<')) continue;
    await scan.text(htmlText(text, text.length));
    // A word may be cut by tags, which a preview takes for blanks.
    await scan.text(entities(text.replace(/<[^<>]*>/g, '')));
  }
}

/** Whatever its sender calls it: octets without zeros can be read. */
function isTextual({ type }: Part, octets: Buffer): boolean {
  return type === 'text' || !octets.subarray(0, 8192).includes(0);
}

async function* pieces(read: MessageToScan['read'], start: number, length: number): AsyncIterable<Buffer> {
  for (let at = 0; at < length; at += PIECE) yield await read(start + at, Math.min(PIECE, length - at));
}

/** Puts the end of each piece before the next one: nothing is cut in two. */
async function* overlapping(all: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let end = Buffer.alloc(0);
  for await (const piece of all) {
    const whole = Buffer.concat([end, piece]);
    end = Buffer.from(whole.subarray(-OVERLAP));
    yield whole;
  }
}
