import { decodeCharset } from '../../message/decode.ts';
import { decodeWords } from '../../message/encoded-word.ts';
import { readFields, unfold } from '../../message/header.ts';
import type { MessageIndex } from '../../message/index-types.ts';
import { LIMITS } from '../../message/limits.ts';
import { type Part, unpackParts } from '../../message/parts.ts';
import { decodeStream } from '../../message/transfer-stream.ts';
import type { SecretKind } from './shown-secret.ts';
import type { ReadDocument, UnscannedReason } from '../gate/types.ts';
import { FileScan } from './files/file-scan.ts';
import { fileKind } from './files/kind.ts';
import { SecretScan } from './scan.ts';
import type { SecretPatterns } from './secret-patterns.ts';

const PIECE = 256 * 1024;
/** Octets of overlap between two pieces. */
const OVERLAP = 2048;
/** Fields with ids of other people's messages, some of which look like a token without its prefix. */
const FOREIGN_IDS: ReadonlySet<string> = new Set(['references', 'in-reply-to']);
/** Fields that programs write: their words are no fragments. */
const PROGRAM_FIELDS: ReadonlySet<string> = new Set([
  'date',
  'message-id',
  'received',
  'dkim-signature',
  'content-type',
]);

/** A message to scan for secrets. */
export interface MessageToScan {
  index: MessageIndex;
  read: (start: number, length: number) => Promise<Buffer>;
  /** All recipients, Bcc included. */
  recipients: readonly string[];
  /** Left out: documents are scanned only by their own streams. */
  readDocument?: ReadDocument | undefined;
  /** Tenant that gives way to others. */
  tenant?: number;
}

/** Kinds of secrets in a message, and why parts could not be scanned. */
export interface SecretScanResult {
  secrets: SecretKind[];
  unscanned: UnscannedReason[];
}

/**
 * Scans header fields, addresses, file names, texts as written and as shown, and attachments, packed ones included. Images
 * and private ciphers are not scanned.
 */
export async function findSecrets(message: MessageToScan, sought: SecretPatterns): Promise<SecretScanResult> {
  const { index, read, recipients, readDocument, tenant } = message;
  const scan = new SecretScan(sought, tenant === undefined ? undefined : `tenant ${tenant}`);
  const files = new FileScan(scan, readDocument);
  await scan.text(recipients.join('\n'));
  const parts = unpackParts(index.parts);
  const leaves = parts.filter(isLeaf);
  for (const part of parts) await header(scan, part, read);
  for (const part of leaves) await body(scan, files, { part, read });
  for (const { start, end } of unscannedRanges(leaves, index.size)) {
    for await (const piece of overlapping(pieces(read, start, end - start))) await scan.octets(piece);
  }
  await scan.end();
  return { secrets: [...scan.found], unscanned: [...scan.unscanned] };
}

function isLeaf({ type, subtype }: Part): boolean {
  return type !== 'multipart' && !(type === 'message' && (subtype === 'rfc822' || subtype === 'global'));
}

async function header(scan: SecretScan, part: Part, read: MessageToScan['read']): Promise<void> {
  const length = Math.min(part.bodyOffset - part.headerOffset, LIMITS.header);
  if (length <= 0) return;
  const fields = readFields((await read(part.headerOffset, length)).toString('latin1'), LIMITS.fields);
  let machine = '';
  let person = '';
  for (const { name, value } of fields) {
    if (FOREIGN_IDS.has(name)) continue;
    const text = `${decodeWords(unfold(value))}\n`;
    if (PROGRAM_FIELDS.has(name)) machine += text;
    else person += text;
  }
  await scan.text(machine);
  await scan.words(person + part.filename);
}

/** Preambles, raw headers, and all else that was not scanned octet by octet. */
function unscannedRanges(leaves: readonly Part[], size: number): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  let start = 0;
  for (const { bodyOffset, bodyLength, encoding } of leaves) {
    // Text that merely claims to be encoded can be read in the source.
    if (encoding === 'base64' || encoding === 'quoted-printable') continue;
    if (start < bodyOffset) ranges.push({ start, end: bodyOffset });
    start = bodyOffset + bodyLength;
  }
  return start < size ? [...ranges, { start, end: size }] : ranges;
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
    await scanText(scan, files, { part, piece: whole });
  }
  if (kept.length > 0) await files.look(Buffer.concat(kept));
}

async function scanText(
  scan: SecretScan,
  files: FileScan,
  { part, piece }: { part: Part; piece: Buffer },
): Promise<void> {
  // A text prefix does not make the rest of the file a text.
  if (fileKind(piece) !== 'text') return files.look(piece);
  const text = decodeCharset(piece, part.charset);
  await scan.words(text);
  await files.writtenFiles(text);
}

/** Tests the octets, whatever type the sender declares; text in another charset counts by its type. */
function isText({ type }: Part, octets: Buffer): boolean {
  const kind = fileKind(octets);
  return kind === 'text' || (type === 'text' && kind === 'unknown');
}

async function* pieces(read: MessageToScan['read'], start: number, length: number): AsyncIterable<Buffer> {
  for (let at = 0; at < length; at += PIECE) yield await read(start + at, Math.min(PIECE, length - at));
}

/** Prefixes each piece with the end of the one before, so that no secret is cut in two. */
async function* overlapping(all: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let end = Buffer.alloc(0);
  for await (const piece of all) {
    const whole = Buffer.concat([end, piece]);
    end = Buffer.from(whole.subarray(-OVERLAP));
    yield whole;
  }
}
