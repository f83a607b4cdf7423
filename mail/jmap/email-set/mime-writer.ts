import { randomBytes } from 'node:crypto';
import { base64Lines } from '../../message/compose-message.ts';
import { formatParameter, formatTypeName } from '../../message/compose-parameter.ts';
import { formatField } from '../../message/compose-text.ts';
import { formatDate } from '../../message/date.ts';
import { encodeQuotedPrintable } from '../../message/quoted-printable.ts';
import type { JmapBlob } from '../blob/blobs.ts';
import type { HeaderBlock } from './header-block.ts';
import type { PartPlan } from './part-plan.ts';

/** Input for writing a message. */
interface MimePlan {
  header: HeaderBlock;
  body: PartPlan;
  /** Blobs of the parts, by blob id. */
  blobs: ReadonlyMap<string, JmapBlob>;
  /** ms UTC. */
  now: number;
  /** Right side of a generated Message-ID. */
  hostname: string;
}

const CRLF = Buffer.from('\r\n');

/** Writes the message in chunks; adds missing Date and Message-ID. ASCII except SMTPUTF8 addresses and attached 8-bit messages. */
export async function* writeEmail({ header, body, blobs, now, hostname }: MimePlan): AsyncIterable<Buffer> {
  const { lines } = header;
  const made = [
    lines.has('date') ? '' : formatField('Date', formatDate(now)),
    lines.has('message-id') ? '' : formatField('Message-ID', `<${randomBytes(16).toString('hex')}@${hostname}>`),
  ];
  const version = lines.has('mime-version') || body.lines.has('mime-version') ? '' : formatField('MIME-Version', '1.0');
  yield Buffer.from([...made, ...lines.values(), version].join(''));
  let last: Buffer = CRLF;
  for await (const piece of writePart(body, blobs, { isLast: true })) {
    yield piece;
    if (piece.length > 0) last = piece;
  }
  if (last.at(-1) !== 10) yield CRLF;
}

/** Writes header, empty line and content of a part. */
async function* writePart(
  part: PartPlan,
  blobs: ReadonlyMap<string, JmapBlob>,
  { isLast = false } = {},
): AsyncIterable<Buffer> {
  if (part.body.kind === 'parts') {
    yield* writeParts(part, part.body.parts, blobs);
    return;
  }
  const { content, type } = await contentOf(part, blobs, isLast);
  const charset = part.body.kind === 'text' ? (type.startsWith('text/') ? 'utf-8' : null) : part.charset;
  const parameters = charset === null ? part.parameters : [['charset', charset] as const, ...part.parameters];
  yield partHeader(part, type, parameters, `Content-Transfer-Encoding: ${content.encoding}\r\n`);
  yield* content.octets;
}

async function contentOf(
  part: PartPlan,
  blobs: ReadonlyMap<string, JmapBlob>,
  isLast: boolean,
): Promise<{ content: PartContent; type: string }> {
  if (part.body.kind === 'text')
    return { content: textContent(part.body.value, isLast), type: part.type ?? 'text/plain' };
  const blob = part.body.kind === 'blob' ? blobs.get(part.body.blobId) : undefined;
  if (blob === undefined) throw new Error('a part of a message was not opened before it was written');
  const type = part.type ?? declaredType(blob.type);
  return { content: await blobContent(blob, type), type };
}

/** Validates a blob's declared type, which the client chose. */
function declaredType(type: string): string {
  const plain = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}/.exec(type)?.[0].toLowerCase();
  return plain === undefined || plain.startsWith('multipart/') ? 'application/octet-stream' : plain;
}

async function* writeParts(
  part: PartPlan,
  parts: readonly PartPlan[],
  blobs: ReadonlyMap<string, JmapBlob>,
): AsyncIterable<Buffer> {
  // 144 random bits cannot occur in a body.
  const boundary = `=_${randomBytes(18).toString('hex')}`;
  yield partHeader(part, part.type ?? 'multipart/mixed', [['boundary', boundary], ...part.parameters], '');
  let delimiter = `--${boundary}\r\n`;
  for (const one of parts) {
    yield Buffer.from(delimiter);
    yield* writePart(one, blobs);
    delimiter = `\r\n--${boundary}\r\n`;
  }
  yield Buffer.from(`\r\n--${boundary}--`);
}

type Parameters = readonly (readonly [name: string, value: string])[];

function partHeader(part: PartPlan, type: string, parameters: Parameters, encoding: string): Buffer {
  const name = part.name === '' ? null : part.name;
  const typeName = name === null || parameters.some(([known]) => known === 'name') ? [] : [formatTypeName(name)];
  const lines = [
    `Content-Type: ${[type, ...parameters.map(([known, value]) => formatParameter(known, value)), ...typeName].join(';\r\n ')}\r\n`,
    encoding,
    disposition(part.disposition, name),
    part.cid === null ? '' : `Content-ID: <${part.cid}>\r\n`,
    ...part.lines.values(),
    '\r\n',
  ];
  return Buffer.from(lines.join(''));
}

function disposition(kind: string | null, name: string | null): string {
  if (kind === null) return '';
  const file = name === null ? '' : `;\r\n ${formatParameter('filename', name)}`;
  return `Content-Disposition: ${kind}${file}\r\n`;
}

/** Encoded octets of a part, without a trailing line end. */
interface PartContent {
  /** Content-Transfer-Encoding. */
  encoding: '7bit' | '8bit' | 'quoted-printable' | 'base64';
  octets: AsyncIterable<Buffer>;
}

/** Longer text is encoded as base64 without inspection, to spare the main thread. */
const MAX_QUOTED_PRINTABLE_BYTES = 256 * 1024;
/** Octets encoded at once: 1,024 base64 lines of 57 octets. */
const BLOCK = 57 * 1024;

/**
 * Encodes text as UTF-8 with CRLF: 7bit if plain ASCII, base64 if a quarter is non-ASCII, else quoted-printable. `isLast`: the
 * message ends with it, and with a line end that may not be one of the text.
 */
function textContent(value: string, isLast: boolean): PartContent {
  const text = value.toWellFormed().replace(/\r?\n|\r/g, '\r\n');
  const octets = Buffer.from(text);
  if (octets.length > MAX_QUOTED_PRINTABLE_BYTES) return base64Content(pieces([octets]));
  const plain = /^[\t\r\n\x20-\x7e]*$/.test(text) && text.split('\r\n').every((line) => line.length <= 78);
  const isOpen = isLast && text !== '' && !text.endsWith('\r\n');
  if (plain && !isOpen) return { encoding: '7bit', octets: pieces([octets]) };
  const foreign = octets.reduce((count, octet) => count + Number(octet > 127), 0);
  if (foreign * 4 > octets.length) return base64Content(pieces([octets]));
  const encoded = encodeQuotedPrintable(octets);
  return {
    encoding: 'quoted-printable',
    octets: pieces([Buffer.from(isOpen ? withSoftEnd(encoded) : encoded)]),
  };
}

/** Longest line of quoted-printable that has room for "=". RFC 2045 6.7. */
const MAX_SOFT_LINE = 75;

/** Adds the "=" of a soft line break, so that the line end of the message is none of the text. RFC 2045 6.7 (5). */
function withSoftEnd(encoded: string): string {
  const lineStart = encoded.lastIndexOf('\n') + 1;
  if (encoded.length - lineStart <= MAX_SOFT_LINE) return `${encoded}=`;
  const last = encoded.at(-3) === '=' ? 3 : 1;
  return `${encoded.slice(0, -last)}=\r\n${encoded.slice(-last)}=`;
}

/** Encodes a blob as base64; a message stays 7bit or 8bit (RFC 2046 5.2.1) if SMTP can carry its lines. */
async function blobContent(blob: JmapBlob, type: string): Promise<PartContent> {
  const whole = (): AsyncIterable<Buffer> => blob.stream(0, blob.size);
  if (!type.startsWith('message/')) return base64Content(whole());
  const { eightBit, travels } = await inspectOctets(whole());
  if (!travels) return base64Content(whole());
  return { encoding: eightBit ? '8bit' : '7bit', octets: whole() };
}

function base64Content(octets: AsyncIterable<Buffer>): PartContent {
  return { encoding: 'base64', octets: base64(octets) };
}

/** Encodes base64 in lines of 76 characters. RFC 2045 6.8. */
async function* base64(octets: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let kept = Buffer.alloc(0);
  let begun = false;
  const lines = (block: Buffer): Buffer => {
    const text = `${begun ? '\r\n' : ''}${base64Lines(block).slice(0, -2)}`;
    begun = true;
    return Buffer.from(text, 'latin1');
  };
  for await (const chunk of octets) {
    kept = Buffer.concat([kept, chunk]);
    for (; kept.length >= BLOCK; kept = kept.subarray(BLOCK)) yield lines(kept.subarray(0, BLOCK));
  }
  if (kept.length > 0) yield lines(kept);
}

async function* pieces(octets: readonly Buffer[]): AsyncIterable<Buffer> {
  yield* octets;
}

/** Checks whether SMTP can carry the octets unencoded: no NUL, no line over 998 octets. RFC 5321 4.5.3.1.6. */
async function inspectOctets(octets: AsyncIterable<Buffer>): Promise<{ eightBit: boolean; travels: boolean }> {
  let eightBit = false;
  let travels = true;
  let column = 0;
  for await (const chunk of octets) {
    for (const octet of chunk) {
      if (octet > 127) eightBit = true;
      if (octet === 10) column = 0;
      else if (++column > 999 || octet === 0) travels = false;
    }
  }
  return { eightBit, travels };
}
