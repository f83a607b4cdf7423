import { type Authors, parseAuthors } from '../message/authors.ts';
import { formatDate } from '../message/date.ts';
import { rewriteSubmittedHeader } from '../message/rewrite.ts';

const MOST_HEADER = 256 * 1024;
const END = Buffer.from('\r\n\r\n');

/**
 * The header of a submission on its way through: held back until it is whole, then judged and rewritten (Bcc removed,
 * Date and Message-ID added when missing); the body passes as it comes.
 */
export class SubmissionHeader {
  readonly #stamp: { now: number; messageIdDomain: string; id: string };
  #held: Buffer[] = [];
  #size = 0;
  #open = true;
  authors: Authors = { kind: 'refused', why: 'The message has no header' };

  constructor(stamp: { now: number; messageIdDomain: string; id: string }) {
    this.#stamp = stamp;
  }

  /** Domains of the From addresses, each once. */
  get authorDomains(): string[] {
    const { authors } = this;
    return authors.kind === 'authors' ? [...new Set(authors.from.map((address) => address.domain))] : [];
  }

  /** What may be kept now. */
  push(chunk: Buffer): Buffer | undefined {
    if (!this.#open) return chunk;
    this.#held.push(chunk);
    this.#size += chunk.length;
    const all = this.#held.length === 1 ? chunk : Buffer.concat(this.#held, this.#size);
    this.#held = [all];
    const end = headerEnd(all);
    if (end >= 0) return this.#pass(all, end);
    return this.#size > MOST_HEADER ? this.#tooLong() : undefined;
  }

  /** The message is over: what was still held back. */
  end(): Buffer | undefined {
    if (!this.#open || this.#size === 0) return undefined;
    const all = Buffer.concat(this.#held, this.#size);
    return this.#pass(all, all.length);
  }

  #pass(all: Buffer, end: number): Buffer {
    this.#open = false;
    this.#held = [];
    const header = all.subarray(0, end);
    this.authors = parseAuthors(header);
    const { now, id, messageIdDomain } = this.#stamp;
    const rewritten = rewriteSubmittedHeader(header, {
      date: formatDate(now),
      messageId: `<${id}@${messageIdDomain}>`,
    });
    return rewritten === header ? all : Buffer.concat([rewritten, all.subarray(end)]);
  }

  #tooLong(): Buffer {
    this.#open = false;
    this.#held = [];
    this.authors = { kind: 'refused', why: 'The header is longer than 256 KiB' };
    return Buffer.alloc(0);
  }
}

/** Octets of the header with its empty line, or -1 while it is not there yet. */
function headerEnd(bytes: Buffer): number {
  if (bytes.length >= 2 && bytes[0] === 13 && bytes[1] === 10) return 2;
  const at = bytes.indexOf(END);
  return at < 0 ? -1 : at + END.length;
}
