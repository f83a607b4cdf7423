import { randomBytes } from 'node:crypto';
import { field } from '../../message/compose.ts';
import { formatParameter, formatTypeName } from '../../message/compose-parameter.ts';
import { formatDate } from '../../message/date.ts';
import type { JmapBlob } from '../blobs.ts';
import type { HeaderBlock } from './header-block.ts';
import type { PartPlan } from './part.ts';
import { blobContent, type PartContent, textContent } from './part-content.ts';

/** What a message is written from. */
export interface Writing {
  header: HeaderBlock;
  body: PartPlan;
  /** Those that the parts name, by blob id. */
  blobs: ReadonlyMap<string, JmapBlob>;
  /** ms UTC. */
  now: number;
  /** Right side of a Message-ID that is made here. */
  hostname: string;
}

const CRLF = Buffer.from('\r\n');

/** The message in pieces: Date and Message-ID made where they are missing, ASCII but for SMTPUTF8 addresses and attached 8-bit messages. */
export async function* writeEmail({ header, body, blobs, now, hostname }: Writing): AsyncIterable<Buffer> {
  const { lines } = header;
  const made = [
    lines.has('date') ? '' : field('Date', formatDate(now)),
    lines.has('message-id') ? '' : field('Message-ID', `<${randomBytes(16).toString('hex')}@${hostname}>`),
  ];
  const version = lines.has('mime-version') || body.lines.has('mime-version') ? '' : field('MIME-Version', '1.0');
  yield Buffer.from([...made, ...lines.values(), version].join(''));
  let last: Buffer = CRLF;
  for await (const piece of writePart(body, blobs)) {
    yield piece;
    if (piece.length > 0) last = piece;
  }
  if (last.at(-1) !== 10) yield CRLF;
}

/** Header, empty line and content of a part. */
async function* writePart(part: PartPlan, blobs: ReadonlyMap<string, JmapBlob>): AsyncIterable<Buffer> {
  if (part.body.kind === 'parts') {
    yield* writeParts(part, part.body.parts, blobs);
    return;
  }
  const { content, type } = await contentOf(part, blobs);
  const charset = part.body.kind === 'text' ? (type.startsWith('text/') ? 'utf-8' : null) : part.charset;
  const parameters = charset === null ? part.parameters : [['charset', charset] as const, ...part.parameters];
  yield partHeader(part, type, parameters, `Content-Transfer-Encoding: ${content.encoding}\r\n`);
  yield* content.octets;
}

async function contentOf(
  part: PartPlan,
  blobs: ReadonlyMap<string, JmapBlob>,
): Promise<{ content: PartContent; type: string }> {
  if (part.body.kind === 'text') return { content: textContent(part.body.value), type: part.type ?? 'text/plain' };
  const blob = part.body.kind === 'blob' ? blobs.get(part.body.blobId) : undefined;
  if (blob === undefined) throw new Error('a part of a message was not opened before it was written');
  const type = part.type ?? declaredType(blob.type);
  return { content: await blobContent(blob, type), type };
}

/** The type of an upload is whatever its sender said. */
function declaredType(type: string): string {
  const plain = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}/.exec(type)?.[0].toLowerCase();
  return plain === undefined || plain.startsWith('multipart/') ? 'application/octet-stream' : plain;
}

async function* writeParts(
  part: PartPlan,
  parts: readonly PartPlan[],
  blobs: ReadonlyMap<string, JmapBlob>,
): AsyncIterable<Buffer> {
  // In no body: 144 random bits.
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
