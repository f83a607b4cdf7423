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
import { ContainerScan, isContainer } from './inside/container-scan.ts';
import { linksOf } from './links.ts';
import type { Inside, Sample, SamplePart } from './sample.ts';

/** A stored message and where its octets are read from, on a thread that may wait for the disk. */
export interface JudgedMessage {
  /** Clipped to what is there. */
  read: (start: number, length: number) => Uint8Array;
  headerLength: number;
  /** Its part table as its index has it, packed. */
  parts: string;
}

/** Who handed a message over, and as what. */
export type Arrival = Pick<Sample, 'peer' | 'sender' | 'sealer'>;

const MOST_TEXT = 256 * 1024;
/** Octets of text parts that are read, as they stand. */
const MOST_TEXT_OCTETS = 1024 * 1024;
const MOST_PARTS = 100;
const HEAD = 8 * 1024;
/** Octets that decode to {@link HEAD} whatever the transfer encoding; quoted-printable may have three for one. */
const HEAD_ENCODED = 26 * 1024;
/** Octets of one message that are looked through for directories. */
const MOST_SCANNED = 48 * 1024 * 1024;
const PIECE = 192 * 1024;
const MOST_SUBJECT = 2000;

/** What a message is by itself, whoever handed it over. */
export type Apart = Omit<Sample, keyof Arrival | 'authentication'>;

/** A message taken apart, and who handed it over with what proof. */
export async function sampleOf(
  message: JudgedMessage,
  arrival: Arrival,
  authentication: Authentication,
): Promise<Sample> {
  return { ...(await takenApart(message)), ...arrival, authentication };
}

/** Takes a message apart once for all checks. Bounded in time and memory whatever the message is; nothing throws on it. */
export async function takenApart(message: JudgedMessage): Promise<Apart> {
  const parts = unpackParts(message.parts);
  const own = ownParts(parts);
  const header = headerOf(message);
  const fields = readFields(header, LIMITS.fields).map((field) => ({
    ...field,
    value: field.value.slice(0, LIMITS.field),
  }));
  const { text, html } = textsOf(message, own.filter(isBody));
  return {
    fields,
    subject: headerText((firstField(fields, 'subject') ?? '').slice(0, 8 * MOST_SUBJECT)).slice(0, MOST_SUBJECT),
    author: authorOf(header),
    text,
    html,
    links: linksOf(html, text),
    parts: await attachedParts(message, parts, own),
  };
}

function headerOf({ read, headerLength }: JudgedMessage): string {
  const octets = read(0, Math.min(headerLength, LIMITS.header));
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('latin1');
}

/** By the same reading as DMARC, of as many fields: two that differ would let an author pass the checks unseen. */
function authorOf(header: string): string {
  const author = readAuthor(readFields(header), header);
  return author.kind === 'author' ? addressKey(author.address) : '';
}

/** What is inside an attached message is not text of this one. */
function ownParts(parts: readonly Part[]): Part[] {
  const attached = parts.filter(({ type, subtype }) => type === 'message' && subtype === 'rfc822');
  const inside = attached.map(({ path }) => `${path}.`);
  return parts.filter(({ path }) => !inside.some((prefix) => path.startsWith(prefix)));
}

function isBody({ type, subtype, disposition, filename }: Part): boolean {
  const readable = type === 'text' && ['plain', 'html', 'enriched'].includes(subtype);
  return readable && disposition !== 'attachment' && filename === '';
}

/** The plain texts and what the HTML shows: of either no more than leaves room for the other. */
function textsOf({ read }: JudgedMessage, bodies: readonly Part[]): Pick<Sample, 'text' | 'html'> {
  let octets = MOST_TEXT_OCTETS;
  let plain = '';
  let html = '';
  for (const part of bodies) {
    const isHtml = part.subtype === 'html';
    const room = MOST_TEXT - (isHtml ? html : plain).length;
    const length = room > 0 ? Math.min(part.bodyLength, octets) : 0;
    octets -= length;
    if (length === 0) continue;
    const text = decodeCharset(decodeTransfer(read(part.bodyOffset, length), part.encoding), part.charset);
    if (isHtml) html += `${text.slice(0, room)}\n`;
    else plain += `${text.slice(0, room)}\n`;
  }
  const shown = html === '' ? '' : htmlText(html, MOST_TEXT);
  const half = MOST_TEXT / 2;
  const kept = plain.slice(0, shown.length > half ? half : MOST_TEXT - shown.length);
  return { text: `${kept}${shown}`.slice(0, MOST_TEXT).toWellFormed(), html: html.slice(0, MOST_TEXT).toWellFormed() };
}

async function attachedParts(
  message: JudgedMessage,
  parts: readonly Part[],
  own: readonly Part[],
): Promise<SamplePart[]> {
  const bodies = new Set(own.filter(isBody));
  const leaves = parts.filter((part) => part.type !== 'multipart' && !bodies.has(part));
  const found: SamplePart[] = [];
  let scanned = MOST_SCANNED;
  for (const part of leaves.slice(0, MOST_PARTS)) {
    const head = headOf(message, part);
    const looked =
      isContainer(head) || /\.(?:zip|jar|rar|7z|do[ct][mx]?|xl[st][mbx]?|pp[ts][mx]?)$/i.test(part.filename);
    const length = looked ? Math.min(part.bodyLength, scanned) : 0;
    scanned -= length;
    const inside = length > 0 ? await insideOf(message, part, length) : undefined;
    found.push({
      type: `${part.type}/${part.subtype}`,
      name: part.filename,
      size: part.decodedLength,
      head,
      ...(inside !== undefined && { inside }),
    });
  }
  return found;
}

function headOf({ read }: JudgedMessage, { bodyOffset, bodyLength, encoding }: Part): Buffer {
  const octets = decodeTransfer(read(bodyOffset, Math.min(bodyLength, HEAD_ENCODED)), encoding);
  // A copy, so that the larger buffer behind it can go.
  return Buffer.from(octets.subarray(0, HEAD));
}

async function insideOf(
  { read }: JudgedMessage,
  { bodyOffset, encoding }: Part,
  length: number,
): Promise<Inside | undefined> {
  const scan = new ContainerScan();
  const pieces = async function* (): AsyncIterable<Buffer> {
    for (let at = 0; at < length; at += PIECE) {
      const octets = read(bodyOffset + at, Math.min(PIECE, length - at));
      yield Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
    }
  };
  for await (const piece of decodeStream(pieces(), encoding)) scan.push(piece);
  return scan.end();
}
