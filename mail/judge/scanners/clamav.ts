import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Finding } from '../../policy/finding.ts';
import { clamavFindings } from './clamav-answer.ts';
import { type Scanned, type Scanner, ScanTrouble } from './scanner.ts';

/** Where a clamd listens. */
export type ClamavPlace = { path: string } | { host: string; port: number };

/** Of an answer, which is one line. */
const MOST_ANSWER = 4096;
const CHUNK = 64 * 1024;

/** Asks a ClamAV daemon, by its command INSTREAM. */
export class Clamav implements Scanner {
  readonly name = 'ClamAV';
  readonly label = 'clamav';
  readonly largest: number;
  readonly #place: ClamavPlace;

  /** `largest`: at most the StreamMaxLength of the daemon, which is 25 MiB unless it is told otherwise. */
  constructor(place: ClamavPlace, largest = 25 * 1024 * 1024) {
    this.#place = place;
    this.largest = largest;
  }

  async scan(mail: Scanned, signal: AbortSignal): Promise<readonly Finding[]> {
    const socket = connect(this.#place);
    const end = (): void => void socket.destroy();
    signal.addEventListener('abort', end, { once: true });
    const answered = lineFrom(socket);
    // The answer may come before the message is sent to its end, and the connection breaks then: it is the answer.
    const sent = pipeline(Readable.from(framed(mail)), socket, { end: false, signal }).catch(() => undefined);
    try {
      return clamavFindings(await answered);
    } finally {
      signal.removeEventListener('abort', end);
      socket.destroy();
      await sent;
    }
  }
}

/** The command, chunks with their lengths, and one of none at the end. */
async function* framed(mail: Scanned): AsyncIterable<Uint8Array> {
  yield Buffer.from('zINSTREAM\0');
  for await (const octets of mail.octets()) {
    for (let at = 0; at < octets.length; at += CHUNK) {
      const chunk = octets.subarray(at, at + CHUNK);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(chunk.length);
      yield length;
      yield chunk;
    }
  }
  yield Buffer.alloc(4);
}

function lineFrom(socket: Socket): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (more: string) => {
    text += more;
    const end = text.indexOf('\0');
    if (end >= 0) resolve(text.slice(0, end));
    else if (text.length > MOST_ANSWER) reject(new ScanTrouble('its answer has no end'));
  });
  socket.on('error', (cause) => reject(new ScanTrouble('it does not answer', { cause })));
  socket.on('close', () => reject(new ScanTrouble('it hung up')));
  return promise;
}
