import type { Authentication } from '../auth/authentication.ts';
import { readAuthor } from '../auth/author.ts';
import { addressKey } from '../message/address.ts';
import { decodeCharset, decodeTransfer } from '../message/decode.ts';
import { headerText } from '../message/header-text.ts';
import { firstField, readFields } from '../message/header.ts';
import { htmlText } from '../message/html-text.ts';
import { LIMITS } from '../message/limits.ts';
import { type Part, unpackParts } from '../message/parts.ts';
import { decodeStream } from '../message/transfer-stream.ts';
import { ContainerScan, isContainer } from './container/container-scan.ts';
import { linksOf } from './links.ts';
import type { ContainerContents, Sample, SamplePart } from './sample.ts';

/** A stored message and its reader, for a thread that may wait for the disk. */
export interface SampleSource {
  /** Reads a range, clipped to the message. */
  read: (start: number, length: number) => Uint8Array;
  headerLength: number;
  /** Packed part table of the message index. */
  parts: string;
}

/** Client and envelope of a message. */
export type SampleEnvelope = Pick<Sample, 'peer' | 'sender' | 'sealer'>;

const MAX_TEXT = 256 * 1024;
/** Encoded octets of text parts that are read. */
const MAX_TEXT_OCTETS = 1024 * 1024;
const MAX_PARTS = 100;
const HEAD_LENGTH = 8 * 1024;
/** Encoded octets that decode to at least {@link HEAD_LENGTH}; quoted-printable may use three for one. */
const ENCODED_HEAD_LENGTH = 26 * 1024;
/** Octets of one message that are scanned for archive directories. */
const MAX_SCANNED = 48 * 1024 * 1024;
const PIECE_LENGTH = 192 * 1024;
const MAX_SUBJECT = 2000;

/** Content of a message, without client, envelope and authentication. */
export type SampleContent = Omit<Sample, keyof SampleEnvelope | 'authentication'>;

/** Builds the sample of a message. */
export async function buildSample(
  message: SampleSource,
  arrival: SampleEnvelope,
  authentication: Authentication,
): Promise<Sample> {
  return { ...(await extractContent(message)), ...arrival, authentication };
}

/** Extracts the content of a message once for all checks. Bounded in time and memory; never throws on a message. */
export async function extractContent(message: SampleSource): Promise<SampleContent> {
  const parts = unpackParts(message.parts);
  const own = partsOutsideAttachedMessages(parts);
  const header = readHeader(message);
  const all = readFields(header);
  const fields = all.slice(0, LIMITS.fields).map((field) => ({ ...field, value: field.value.slice(0, LIMITS.field) }));
  // Parsed exactly as DMARC does: a different parser would let a forged author evade the checks.
  const author = readAuthor(all, header);
  const { text, html } = readTexts(message, own.filter(isBody));
  return {
    fields,
    subject: headerText((firstField(fields, 'subject') ?? '').slice(0, 8 * MAX_SUBJECT)).slice(0, MAX_SUBJECT),
    author: author.kind === 'author' ? addressKey(author.address) : '',
    text,
    html,
    links: linksOf(html, text),
    parts: await readAttachedParts(message, parts, own),
  };
}

function readHeader({ read, headerLength }: SampleSource): string {
  const octets = read(0, Math.min(headerLength, LIMITS.header));
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('latin1');
}

/** Leaves out the parts of attached messages; `parts` are in pre-order. */
function partsOutsideAttachedMessages(parts: readonly Part[]): Part[] {
  const outside: Part[] = [];
  const attached: string[] = [];
  for (const part of parts) {
    if (attached.some((path) => part.path.startsWith(path))) continue;
    outside.push(part);
    if (part.type === 'message' && part.subtype === 'rfc822') attached.push(`${part.path}.`);
  }
  return outside;
}

function isBody({ type, subtype, disposition, filename }: Part): boolean {
  const readable = type === 'text' && ['plain', 'html', 'enriched'].includes(subtype);
  return readable && disposition !== 'attachment' && filename === '';
}

/** Reads plain text and visible HTML text; neither takes the room of the other. */
function readTexts({ read }: SampleSource, bodies: readonly Part[]): Pick<Sample, 'text' | 'html'> {
  let octets = MAX_TEXT_OCTETS;
  let plain = '';
  let html = '';
  for (const part of bodies) {
    const isHtml = part.subtype === 'html';
    const room = MAX_TEXT - (isHtml ? html : plain).length;
    const length = room > 0 ? Math.min(part.bodyLength, octets) : 0;
    octets -= length;
    if (length === 0) continue;
    const text = decodeCharset(decodeTransfer(read(part.bodyOffset, length), part.encoding), part.charset);
    if (isHtml) html += `${text.slice(0, room)}\n`;
    else plain += `${text.slice(0, room)}\n`;
  }
  const shown = html === '' ? '' : htmlText(html, MAX_TEXT);
  const half = MAX_TEXT / 2;
  const kept = plain.slice(0, shown.length > half ? half : MAX_TEXT - shown.length);
  return { text: `${kept}${shown}`.slice(0, MAX_TEXT).toWellFormed(), html: html.slice(0, MAX_TEXT).toWellFormed() };
}

async function readAttachedParts(
  message: SampleSource,
  parts: readonly Part[],
  own: readonly Part[],
): Promise<SamplePart[]> {
  const bodies = new Set(own.filter(isBody));
  const leaves = parts.filter((part) => part.type !== 'multipart' && !bodies.has(part));
  const found: SamplePart[] = [];
  let scanned = MAX_SCANNED;
  for (const part of leaves.slice(0, MAX_PARTS)) {
    const head = readHead(message, part);
    const isScanned =
      isContainer(head) || /\.(?:zip|jar|rar|7z|do[ct][mx]?|xl[st][mbx]?|pp[ts][mx]?)$/i.test(part.filename);
    const length = isScanned ? Math.min(part.bodyLength, scanned) : 0;
    scanned -= length;
    const contents = length > 0 ? await readContainerContents(message, part, length) : undefined;
    found.push({
      type: `${part.type}/${part.subtype}`,
      name: part.filename,
      size: part.decodedLength,
      head,
      ...(contents !== undefined && { contents }),
    });
  }
  return found;
}

function readHead({ read }: SampleSource, { bodyOffset, bodyLength, encoding }: Part): Buffer {
  const octets = decodeTransfer(read(bodyOffset, Math.min(bodyLength, ENCODED_HEAD_LENGTH)), encoding);
  // A copy, so that the larger buffer behind it is freed.
  return Buffer.from(octets.subarray(0, HEAD_LENGTH));
}

async function readContainerContents(
  { read }: SampleSource,
  { bodyOffset, encoding }: Part,
  length: number,
): Promise<ContainerContents | undefined> {
  const scan = new ContainerScan();
  const pieces = async function* (): AsyncIterable<Buffer> {
    for (let at = 0; at < length; at += PIECE_LENGTH) {
      const octets = read(bodyOffset + at, Math.min(PIECE_LENGTH, length - at));
      yield Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
    }
  };
  for await (const piece of decodeStream(pieces(), encoding)) scan.push(piece);
  return scan.end();
}
