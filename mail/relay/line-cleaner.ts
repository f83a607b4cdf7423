import { LineEndNormalizer } from '../message/line-end-normalizer.ts';

const SPACE = 32;

/**
 * Normalizes line ends to CRLF and NUL to space, chunk by chunk. Mail that did not arrive by SMTP may need it. A bare CR or LF
 * must never be sent: the next server may take it for the end of the message (SMTP smuggling). Runs before signing, so that
 * signatures cover the sent octets.
 */
export class LineCleaner {
  readonly #endings = new LineEndNormalizer();

  /** Cleans the next octets; returns `chunk` itself if it needs no change. */
  push(chunk: Buffer): Buffer {
    const lines = this.#endings.push(chunk);
    return lines.includes(0) ? Buffer.from(lines.map((octet) => (octet === 0 ? SPACE : octet))) : lines;
  }

  /** Returns the line end for a CR at the very end. */
  end(): Buffer {
    return this.#endings.end();
  }
}
