import { base64Lines } from '../../message/compose-message.ts';
import { encodeQuotedPrintable } from '../../message/quoted-printable.ts';
import type { JmapBlob } from '../blobs.ts';

/** The octets of a part as they stand in the message, without a line end of their own behind them. */
export interface PartContent {
  /** Content-Transfer-Encoding. */
  encoding: '7bit' | '8bit' | 'quoted-printable' | 'base64';
  octets: AsyncIterable<Buffer>;
}

/** Longer text is not gone through letter by letter on the main thread. */
const MOST_QUOTED = 256 * 1024;
/** Lines of base64 hold 57 octets each; so many at a time. */
const BLOCK = 57 * 1024;

/** Text in UTF-8 with CRLF: as it is when it is plain, else in the encoding that leaves more of it readable or is shorter. */
export function textContent(value: string): PartContent {
  const text = value.toWellFormed().replace(/\r?\n|\r/g, '\r\n');
  const octets = Buffer.from(text);
  if (octets.length > MOST_QUOTED) return base64Content(pieces([octets]));
  const plain = /^[\t\r\n\x20-\x7e]*$/.test(text) && text.split('\r\n').every((line) => line.length <= 78);
  if (plain) return { encoding: '7bit', octets: pieces([octets]) };
  const foreign = octets.reduce((count, octet) => count + Number(octet > 127), 0);
  if (foreign * 4 > octets.length) return base64Content(pieces([octets]));
  return { encoding: 'quoted-printable', octets: pieces([Buffer.from(encodeQuotedPrintable(octets))]) };
}

/** A blob in base64; an attached message as it is, which RFC 2046 5.2.1 asks for, as far as its lines can travel. */
export async function blobContent(blob: JmapBlob, type: string): Promise<PartContent> {
  const whole = (): AsyncIterable<Buffer> => blob.stream(0, blob.size);
  if (!type.startsWith('message/')) return base64Content(whole());
  const { eightBit, travels } = await lookAt(whole());
  if (!travels) return base64Content(whole());
  return { encoding: eightBit ? '8bit' : '7bit', octets: whole() };
}

function base64Content(octets: AsyncIterable<Buffer>): PartContent {
  return { encoding: 'base64', octets: base64(octets) };
}

/** RFC 2045 6.8. */
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

/** Whether SMTP can carry these octets as they are: no NUL, no line over 998 octets. RFC 5321 4.5.3.1.6. */
async function lookAt(octets: AsyncIterable<Buffer>): Promise<{ eightBit: boolean; travels: boolean }> {
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
