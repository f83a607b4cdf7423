import { removeForgedFields } from '../auth/forged-results.ts';
import { type Authors, parseAuthors } from '../message/authors.ts';
import { formatDate } from '../message/date.ts';
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
  #buffered: Buffer[] = [];
  #size = 0;
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
    this.#buffered.push(chunk);
    this.#size += chunk.length;
    const all = this.#buffered.length === 1 ? chunk : Buffer.concat(this.#buffered, this.#size);
    this.#buffered = [all];
    const end = headerEnd(all);
    if (end >= 0) return this.#pass(all, end);
    return this.#size > MAX_HEADER ? this.#tooLong() : undefined;
  }

  /** Ends the message; returns buffered octets. */
  end(): Buffer | undefined {
    if (!this.#open || this.#size === 0) return undefined;
    const all = Buffer.concat(this.#buffered, this.#size);
    return this.#pass(all, all.length);
  }

  #pass(all: Buffer, end: number): Buffer {
    this.#open = false;
    this.#buffered = [];
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
    this.#buffered = [];
    this.authors = { kind: 'refused', why: 'The header is longer than 256 KiB' };
    return Buffer.alloc(0);
  }
}

/** Length of the header with its empty line; -1 if incomplete. */
function headerEnd(bytes: Buffer): number {
  if (bytes.length >= 2 && bytes[0] === 13 && bytes[1] === 10) return 2;
  const at = bytes.indexOf(END);
  return at < 0 ? -1 : at + END.length;
}
