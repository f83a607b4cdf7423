import { isAscii } from 'node:buffer';
import { bodyHasher } from '../auth/dkim-body.ts';
import { sealHeaders } from '../auth/arc-seal.ts';
import type { ChainStatus } from '../auth/authentication.ts';
import { signHeaders } from '../auth/dkim-sign.ts';
import { LineCleaner } from './clean-lines.ts';
import type { SigningKey } from './needs.ts';
import type { Outgoing } from './transaction.ts';

/** A message that is ready to leave, with its own header block for reports. */
export interface Prepared extends Outgoing {
  /** The header block without signatures, at most {@link MOST_HEADER} octets. */
  header: Buffer;
}

/** Where the octets of a message come from; called once for each time that it is read. */
export type Source = () => AsyncIterable<Buffer>;

/** Messages up to this size are kept in memory between signing and sending; larger ones are read twice. */
const MOST_KEPT = 256 * 1024;
/** A header longer than this is no header; such a message leaves without a signature. */
const MOST_HEADER = 1024 * 1024;
const MOST_REPORTED = 64 * 1024;

/**
 * Reads a message once, cleans its line ends, and signs it with the keys. `utf8` says that the sender asked for
 * SMTPUTF8; `now` is ms UTC. With `arc`, what the chain of ARC seals so far is worth, one is added. Rejects when the message cannot be read or signed: both mean "later".
 */
export async function prepare(
  source: Source,
  keys: readonly SigningKey[],
  utf8: boolean,
  now: number,
  arc?: ChainStatus,
): Promise<Prepared> {
  const scan = new Scan();
  for await (const chunk of clean(source)) scan.take(chunk);
  const { header, complete } = scan.header();
  const signatures = complete ? await signed(header, scan.digest(), keys, now, arc) : Buffer.alloc(0);
  const kept = scan.kept;
  return {
    header,
    size: signatures.length + scan.size,
    eightBit: scan.eightBit,
    utf8Header: utf8 && has8Bit(header),
    chunks: () => (kept === undefined ? behind(signatures, clean(source)) : [signatures, ...kept]),
  };
}

/** All that is put in front of a message. The seal covers what comes from before us, our own signature stands apart. */
async function signed(
  header: Buffer,
  bodyHash: Buffer,
  keys: readonly SigningKey[],
  now: number,
  arc: ChainStatus | undefined,
): Promise<Buffer> {
  const made = [signHeaders(header, bodyHash, keys, now)];
  if (arc !== undefined) made.unshift(sealHeaders(header, bodyHash, { keys, arc, now }));
  return Buffer.concat(await Promise.all(made));
}

/** The header block of a message for a report, or what can be had of it: a report is sent even about a damaged message. */
export async function readHeader(source: Source): Promise<Buffer> {
  const head: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of clean(source)) {
      head.push(chunk);
      size += chunk.length;
      if (size > MOST_REPORTED) break;
    }
  } catch {
    // What has been read will do.
  }
  const octets = Buffer.concat(head);
  const end = octets.indexOf('\r\n\r\n');
  return end < 0 ? octets.subarray(0, MOST_REPORTED) : octets.subarray(0, end + 2);
}

async function* clean(source: Source): AsyncIterable<Buffer> {
  const cleaner = new LineCleaner();
  for await (const chunk of source()) yield cleaner.push(chunk);
  yield cleaner.end();
}

async function* behind(first: Buffer, rest: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  yield first;
  yield* rest;
}

/** What one pass over a message learns. */
class Scan {
  size = 0;
  eightBit = false;
  /** All of the message, or undefined when it is too large to be kept. */
  kept: Buffer[] | undefined = [];
  readonly #body = bodyHasher();
  /** Chunks of the header so far, until its end is found. */
  #head: Buffer[] | undefined = [];
  #headSize = 0;
  /** The last octets so far, for an end that lies across chunks; a message may begin with its empty line. */
  #tail: Buffer = Buffer.from('\r\n');
  #header: Buffer = Buffer.alloc(0);
  #complete = true;

  take(chunk: Buffer): void {
    this.size += chunk.length;
    this.eightBit ||= has8Bit(chunk);
    this.kept?.push(chunk);
    if (this.size > MOST_KEPT) this.kept = undefined;
    if (this.#head === undefined) this.#body.update(chunk);
    else this.#takeHead(this.#head, chunk);
  }

  /** The header block with its last CRLF and without the empty line; not complete when it was given up as too long. */
  header(): { header: Buffer; complete: boolean } {
    if (this.#head !== undefined) this.#header = Buffer.concat(this.#head);
    return { header: this.#header, complete: this.#complete };
  }

  digest(): Buffer {
    return this.#body.digest();
  }

  #takeHead(head: Buffer[], chunk: Buffer): void {
    const joined = Buffer.concat([this.#tail, chunk]);
    const start = this.#headSize - this.#tail.length;
    const end = joined.indexOf('\r\n\r\n');
    head.push(chunk);
    this.#headSize += chunk.length;
    this.#tail = joined.subarray(-3);
    if (end >= 0) return this.#endHead(head, start + end + 2);
    if (this.#headSize <= MOST_HEADER) return undefined;
    this.#complete = false;
    return this.#endHead(head, MOST_HEADER);
  }

  #endHead(head: readonly Buffer[], length: number): void {
    const whole = Buffer.concat(head);
    this.#head = undefined;
    this.#header = whole.subarray(0, length);
    this.#body.update(whole.subarray(length + 2));
  }
}

function has8Bit(octets: Buffer): boolean {
  return !isAscii(octets);
}
