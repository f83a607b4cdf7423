import { Readable } from 'node:stream';
import type { Resolver } from '../dns/lookup.ts';
import { readFields } from '../message/header.ts';
import { Asker } from './asker.ts';
import type { Authentication } from './authentication.ts';
import { NO_AUTHOR, verify } from './verify.ts';

/** A message as it came, and from where. */
export interface Arrived {
  /** Its octets; called once. */
  chunks(): AsyncIterable<Buffer>;
  ip: string;
  helo: string;
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
}

export interface Verification {
  resolver: Resolver;
  /** Our own name. */
  hostname: string;
  /** For all of it, ms. */
  timeoutMs?: number;
}

const LONGEST_MS = 20_000;
/** Octets. A header that is longer is read by nobody else either. */
const MOST_HEADER = 256 * 1024;
/** Each costs a look-up, a hash of the body and a verification. */
const MOST_SIGNATURES = 8;
const END = Buffer.from('\r\n\r\n');

/**
 * Evaluates SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489) and the ARC chain (RFC 8617) of a message. Bounded in time,
 * look-ups and signatures; what could not be found out is `temperror`, never a guess. Does not reject unless the message
 * cannot be read.
 */
export async function authenticate(mail: Arrived, options: Verification): Promise<Authentication> {
  const asker = new Asker(options.resolver);
  const input = Readable.from(bounded(mail.chunks()), { objectMode: false });
  const late = AbortSignal.timeout(options.timeoutMs ?? LONGEST_MS);
  const ended = new Promise<undefined>((resolve) => {
    late.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  try {
    const { ip, helo, sender } = mail;
    const done = verify({ input, asker, ip, helo, sender, hostname: options.hostname });
    const result = await Promise.race([done, ended]);
    // What is late may still fail, and nobody listens to it any more.
    if (result === undefined) done.catch(() => undefined);
    return result ?? UNKNOWN;
  } catch (error) {
    if (error instanceof NoHeader) return UNREADABLE;
    throw error;
  } finally {
    asker.close();
    input.destroy();
  }
}

/** What is known of a message of which nothing could be found out. */
export const UNKNOWN: Authentication = {
  spf: { result: 'temperror', domain: '' },
  dkim: [],
  dmarc: { result: 'temperror', ...NO_AUTHOR },
  arc: 'temperror',
};
const UNREADABLE: Authentication = {
  spf: { result: 'none', domain: '' },
  dkim: [],
  dmarc: { result: 'permerror', ...NO_AUTHOR },
  arc: 'fail',
};

class NoHeader extends Error {
  override readonly name = 'NoHeader';
}

/** The message with no more signatures than are verified, and with no header that is too long to be one. */
async function* bounded(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(END);
    if ((end < 0 ? head.length : end) > MOST_HEADER) throw new NoHeader('the header is too long');
    if (end < 0) continue;
    yield* [fewSignatures(head.subarray(0, end + 2)), head.subarray(end + 2)];
    head = undefined;
  }
  if (head !== undefined) yield fewSignatures(head);
}

function fewSignatures(header: Buffer): Buffer {
  const text = header.toString('latin1');
  const fields = readFields(text);
  const more = fields.filter(({ name }) => name === 'dkim-signature').slice(MOST_SIGNATURES);
  if (more.length === 0) return header;
  const kept = fields.filter((field) => !more.includes(field)).map(({ start, end }) => text.slice(start, end));
  return Buffer.from(kept.join(''), 'latin1');
}
