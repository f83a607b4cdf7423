import { decodeCharset } from '../../../message/decode.ts';
import { decodeWords } from '../../../message/encoded-word.ts';
import { readFields, unfold } from '../../../message/header.ts';
import type { MessageIndex } from '../../../message/index-types.ts';
import { LIMITS } from '../../../message/limits.ts';
import { type Part, unpackParts } from '../../../message/parts.ts';
import { decodeStream } from '../../../message/transfer-stream.ts';
import type { SecretKind } from '../../../store/shown-secret.ts';
import type { Unread } from '../types.ts';
import { FileScan, type ReadDocument } from './files/file-scan.ts';
import { fileKind } from './files/kind.ts';
import { SecretScan, type Sought } from './scan.ts';

const PIECE = 256 * 1024;
/** Octets of the end of a piece that are looked at with the next one. */
const OVERLAP = 2048;
/** Their values are ids of other people's messages, some of which look like a token without its prefix. */
const FOREIGN_IDS: ReadonlySet<string> = new Set(['references', 'in-reply-to']);
/** What programs write there is no piece of anything. */
const MACHINES: ReadonlySet<string> = new Set(['date', 'message-id', 'received', 'dkim-signature', 'content-type']);

/** A message as it is read for its secrets. */
export interface MessageToScan {
  index: MessageIndex;
  read: (start: number, length: number) => Promise<Buffer>;
  /** All who get it, those whom no field names among them. */
  recipients: readonly string[];
  /** Left out: of documents only what stands in them as it stands. */
  readDocument?: ReadDocument | undefined;
}

/** The kinds of secrets that are in a message, and why not all of it was looked through. */
export interface LookedThrough {
  secrets: SecretKind[];
  unread: Unread[];
}

/**
 * Looks for secrets in the fields of a message, its addresses and file names, in texts as they stand and as they are shown,
 * and in attachments, also packed ones. Pictures and ciphers of one's own are not looked into.
 */
export async function secretsIn(message: MessageToScan, sought: Sought): Promise<LookedThrough> {
  const scan = new SecretScan(sought);
  const { index, read, recipients, readDocument } = message;
  const files = new FileScan(scan, readDocument);
  await scan.text(recipients.join('\n'));
  const parts = unpackParts(index.parts);
  for (const part of parts) await header(scan, part, read);
  for (const part of parts) {
    if (isLeaf(part)) await body(scan, files, { part, read });
  }
  for (const { start, end } of between(parts, index.size)) {
    for await (const piece of overlapping(pieces(read, start, end - start))) await scan.octets(piece);
  }
  await scan.end();
  return { secrets: [...scan.found], unread: [...scan.unread] };
}

function isLeaf({ type, subtype }: Part): boolean {
  return type !== 'multipart' && !(type === 'message' && (subtype === 'rfc822' || subtype === 'global'));
}

async function header(scan: SecretScan, part: Part, read: MessageToScan['read']): Promise<void> {
  const length = Math.min(part.bodyOffset - part.headerOffset, LIMITS.header);
  if (length <= 0) return;
  const fields = readFields((await read(part.headerOffset, length)).toString('latin1'), LIMITS.fields);
  const own = fields.filter(({ name }) => !FOREIGN_IDS.has(name));
  const { machine = [], person = [] } = Object.groupBy(own, ({ name }) => (MACHINES.has(name) ? 'machine' : 'person'));
  await scan.text(textOf(machine));
  await scan.words(`${textOf(person)}\n${part.filename}`);
}

function textOf(fields: ReturnType<typeof readFields>): string {
  return fields.map(({ value }) => decodeWords(unfold(value))).join('\n');
}

/** Preambles, headers as they stand, and all else that was not looked at octet by octet. */
function between(parts: readonly Part[], size: number): { start: number; end: number }[] {
  const seen = parts.filter((part) => isLeaf(part) && isAsItStands(part));
  const starts = [0, ...seen.map(({ bodyOffset, bodyLength }) => bodyOffset + bodyLength)];
  const ends = [...seen.map(({ bodyOffset }) => bodyOffset), size];
  return starts.map((start, i) => ({ start, end: ends[i] ?? size })).filter(({ start, end }) => start < end);
}

/** What calls itself base64 may be no such thing, and is read by who looks at its source. */
function isAsItStands({ encoding }: Part): boolean {
  return encoding !== 'base64' && encoding !== 'quoted-printable';
}

interface Body {
  part: Part;
  read: MessageToScan['read'];
}

async function body(scan: SecretScan, files: FileScan, { part, read }: Body): Promise<void> {
  const decoded = decodeStream(pieces(read, part.bodyOffset, part.bodyLength), part.encoding);
  const kept: Buffer[] = [];
  let text: boolean | undefined;
  let end = Buffer.alloc(0);
  for await (const piece of decoded) {
    text ??= isText(part, piece);
    if (!text) {
      kept.push(piece);
      continue;
    }
    const whole = Buffer.concat([end, piece]);
    end = Buffer.from(whole.subarray(-OVERLAP));
    await written(scan, files, { part, piece: whole });
  }
  if (kept.length > 0) await files.look(Buffer.concat(kept));
}

async function written(
  scan: SecretScan,
  files: FileScan,
  { part, piece }: { part: Part; piece: Buffer },
): Promise<void> {
  // Words in front do not make a text of what follows.
  if (fileKind(piece) !== 'text') return files.look(piece);
  const text = decodeCharset(piece, part.charset);
  await scan.words(text);
  await files.writtenFiles(text);
}

/** Whatever its sender calls it; a page of another charset is called so. */
function isText({ type }: Part, octets: Buffer): boolean {
  const kind = fileKind(octets);
  return kind === 'text' || (type === 'text' && kind === 'unknown');
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
