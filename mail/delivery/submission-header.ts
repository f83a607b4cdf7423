import { removeForgedFields } from '../auth/forged-results.ts';
import { type Authors, parseAuthors } from '../message/authors.ts';
import { formatDate } from '../message/date.ts';
import { OctetCollector } from '../message/octet-collector.ts';
import { rewriteSubmittedHeader } from '../message/rewrite.ts';

const MAX_HEADER = 256 * 1024;
const END = Buffer.from('\r\n\r\n');

/** Values that the server adds to a submission. */
export interface SubmissionStamp {
  now: number;
  messageIdDomain: string;
  id: string;
  /** Name of this server in Authentication-Results. */
  authserv: string;
}

/**
 * Streams a submission and rewrites its header: buffered until complete, then parsed and rewritten (Bcc and results in the
 * name of this server removed, missing Date and Message-ID added). The body passes unchanged.
 */
export class SubmissionHeader {
  readonly #stamp: SubmissionStamp;
  #buffered = new OctetCollector();
  #open = true;
  authors: Authors = { kind: 'refused', why: 'The message has no header' };

  constructor(stamp: SubmissionStamp) {
    this.#stamp = stamp;
  }

  /** Domains of the From addresses, each once. */
  get authorDomains(): string[] {
    const { authors } = this;
    return authors.kind === 'authors' ? [...new Set(authors.from.map((address) => address.domain))] : [];
  }

  /** Returns octets that are ready to be stored. */
  push(chunk: Buffer): Buffer | undefined {
    if (!this.#open) return chunk;
    const all = this.#collect(chunk);
    // Searches the new octets only: the chunks of BDAT may have one octet each.
    const end = headerEnd(all, Math.max(0, all.length - chunk.length - END.length + 1));
    if (end >= 0) return this.#pass(all, end);
    if (all === chunk) this.#buffered.push(chunk);
    return all.length > MAX_HEADER ? this.#tooLong() : undefined;
  }

  /** The octets so far. Most headers come in one chunk, which is not copied. */
  #collect(chunk: Buffer): Buffer {
    if (this.#buffered.size === 0) return chunk;
    this.#buffered.push(chunk);
    return this.#buffered.octets;
  }

  /** Ends the message; returns buffered octets. */
  end(): Buffer | undefined {
    if (!this.#open || this.#buffered.size === 0) return undefined;
    return this.#pass(this.#buffered.octets, this.#buffered.size);
  }

  #pass(all: Buffer, end: number): Buffer {
    this.#open = false;
    this.#buffered = new OctetCollector();
    const header = all.subarray(0, end);
    this.authors = parseAuthors(header);
    const { now, id, messageIdDomain, authserv } = this.#stamp;
    // RFC 8601 5: a recipient here would take results in our name for ours.
    const own = removeForgedFields(header, authserv);
    const rewritten = rewriteSubmittedHeader(own, {
      date: formatDate(now),
      messageId: `<${id}@${messageIdDomain}>`,
    });
    return rewritten === header ? all : Buffer.concat([rewritten, all.subarray(end)]);
  }

  #tooLong(): Buffer {
    this.#open = false;
    this.#buffered = new OctetCollector();
    this.authors = { kind: 'refused', why: 'The header is longer than 256 KiB' };
    return Buffer.alloc(0);
  }
}

/** Length of the header with its empty line, which ends behind `from`; -1 if incomplete. */
function headerEnd(bytes: Buffer, from: number): number {
  if (bytes.length >= 2 && bytes[0] === 13 && bytes[1] === 10) return 2;
  const at = bytes.indexOf(END, from);
  return at < 0 ? -1 : at + END.length;
}
