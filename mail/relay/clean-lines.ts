import { BareEndings } from '../message/bare-endings.ts';

const SPACE = 32;

/**
 * Makes every line end of a message CRLF and every NUL a space, chunk by chunk. What is stored is already so, save for
 * mail that came in by other ways than SMTP; but what leaves must never hold a bare CR or LF, which the next server may
 * take for the end of our message (SMTP smuggling). It runs before signing, so that signatures cover what is sent.
 */
export class LineCleaner {
  readonly #endings = new BareEndings();

  /** Takes the next octets and gives out what is clean; `chunk` itself when there was nothing to do. */
  push(chunk: Buffer): Buffer {
    const lines = this.#endings.push(chunk);
    return lines.includes(0) ? Buffer.from(lines.map((octet) => (octet === 0 ? SPACE : octet))) : lines;
  }

  /** The line end that a CR at the very end stands for. */
  end(): Buffer {
    return this.#endings.end();
  }
}
