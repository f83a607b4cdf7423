import { isAscii } from 'node:buffer';
import { bodyHasher } from '../auth/dkim-body.ts';
import { sealArc } from '../auth/arc-seal.ts';
import type { ChainStatus } from '../auth/authentication.ts';
import { signHeaders } from '../auth/dkim-sign.ts';
import { LineCleaner } from './line-cleaner.ts';
import type { SigningKey } from './relay-queue.ts';
import type { WireMessage } from './transaction.ts';

/** A signed message ready to send, with its header block for reports. */
export interface PreparedMessage extends WireMessage {
  /** Header block without signatures, at most {@link MAX_HEADER} octets. */
  header: Buffer;
}

/** Opens a message for reading; called for each read. */
export type OctetSource = () => AsyncIterable<Buffer>;

/** Messages up to this size stay in memory between signing and sending; larger ones are read twice. */
const MAX_IN_MEMORY = 256 * 1024;
/** Longer headers are not parsed; the message is sent unsigned. */
const MAX_HEADER = 1024 * 1024;
const MAX_REPORTED_HEADER = 64 * 1024;

/**
 * Reads a message once, normalizes its line ends, and signs it. `utf8`: the sender used SMTPUTF8; `now`: ms UTC; `arc`: status
 * of the ARC chain, adds a seal. Rejects if the message cannot be read or signed: both defer.
 */
export async function prepareMessage(
  source: OctetSource,
  keys: readonly SigningKey[],
  utf8: boolean,
  now: number,
  arc?: ChainStatus,
): Promise<PreparedMessage> {
  const scan = new MessageScan();
  for await (const chunk of cleanedOctets(source)) scan.take(chunk);
  const { header, complete } = scan.header();
  const signatures = complete ? await composeSignatures(header, scan.digest(), keys, now, arc) : Buffer.alloc(0);
  const chunks = scan.chunks;
  return {
    header,
    size: signatures.length + scan.size,
    eightBit: scan.eightBit,
    utf8Header: utf8 && has8Bit(header),
    chunks: () => (chunks === undefined ? prepend(signatures, cleanedOctets(source)) : [signatures, ...chunks]),
  };
}

/** Composes the fields in front of a message. The ARC seal covers earlier hops only, not our own signature. */
async function composeSignatures(
  header: Buffer,
  bodyHash: Buffer,
  keys: readonly SigningKey[],
  now: number,
  arc: ChainStatus | undefined,
): Promise<Buffer> {
  const fields = [signHeaders(header, bodyHash, keys, now)];
  if (arc !== undefined) fields.unshift(sealArc(header, bodyHash, { keys, arc, now }));
  return Buffer.concat(await Promise.all(fields));
}

/** Reads the header block for a report, as far as readable: a damaged message is reported too. */
export async function readHeader(source: OctetSource): Promise<Buffer> {
  const head: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of cleanedOctets(source)) {
      head.push(chunk);
      size += chunk.length;
      if (size > MAX_REPORTED_HEADER) break;
    }
  } catch {
    // Use what was read so far.
  }
  const octets = Buffer.concat(head);
  const end = octets.indexOf('\r\n\r\n');
  return end < 0 ? octets.subarray(0, MAX_REPORTED_HEADER) : octets.subarray(0, end + 2);
}

async function* cleanedOctets(source: OctetSource): AsyncIterable<Buffer> {
  const cleaner = new LineCleaner();
  for await (const chunk of source()) yield cleaner.push(chunk);
  yield cleaner.end();
}

async function* prepend(first: Buffer, rest: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  yield first;
  yield* rest;
}

/** One pass over a message: size, 8-bit octets, header, body hash. */
class MessageScan {
  size = 0;
  eightBit = false;
  /** The whole message, or undefined if it is too large. */
  chunks: Buffer[] | undefined = [];
  readonly #body = bodyHasher();
  /** Header chunks until its end is found. */
  #head: Buffer[] | undefined = [];
  #headSize = 0;
  /** Last octets, for an end that spans chunks; a message may start with the empty line. */
  #tail: Buffer = Buffer.from('\r\n');
  #header: Buffer = Buffer.alloc(0);
  #complete = true;

  take(chunk: Buffer): void {
    this.size += chunk.length;
    this.eightBit ||= has8Bit(chunk);
    this.chunks?.push(chunk);
    if (this.size > MAX_IN_MEMORY) this.chunks = undefined;
    if (this.#head === undefined) this.#body.update(chunk);
    else this.#takeHead(this.#head, chunk);
  }

  /** Returns the header block with its last CRLF, without the empty line; not complete if too long. */
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
    if (this.#headSize <= MAX_HEADER) return undefined;
    this.#complete = false;
    return this.#endHead(head, MAX_HEADER);
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
