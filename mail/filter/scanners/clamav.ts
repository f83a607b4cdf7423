import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Finding } from '../../policy/finding.ts';
import { clamavFindings } from './clamav-response.ts';
import { type ScannedMessage, type Scanner, ScanError } from './scanner.ts';

/** Socket of a clamd. */
export type ClamavAddress = { path: string } | { host: string; port: number };

/** Octets of the response line. */
const MAX_RESPONSE = 4096;
const CHUNK = 64 * 1024;

/** Client of a ClamAV daemon, by its INSTREAM command. */
export class Clamav implements Scanner {
  readonly name = 'ClamAV';
  readonly label = 'clamav';
  readonly maxSize: number;
  readonly #address: ClamavAddress;

  /** `maxSize`: at most the StreamMaxLength of the daemon, 25 MiB by default. */
  constructor(address: ClamavAddress, maxSize = 25 * 1024 * 1024) {
    this.#address = address;
    this.maxSize = maxSize;
  }

  async scan(mail: ScannedMessage, signal: AbortSignal): Promise<readonly Finding[]> {
    const socket = connect(this.#address);
    const end = (): void => void socket.destroy();
    signal.addEventListener('abort', end, { once: true });
    const response = lineFrom(socket);
    // The response may come before the whole message is sent, and the connection breaks then: the response counts.
    const sent = pipeline(Readable.from(framed(mail)), socket, { end: false, signal }).catch(() => undefined);
    try {
      return clamavFindings(await response);
    } finally {
      signal.removeEventListener('abort', end);
      socket.destroy();
      await sent;
    }
  }
}

/** Frames the command: chunks with length prefixes, and an empty chunk at the end. */
async function* framed(mail: ScannedMessage): AsyncIterable<Uint8Array> {
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
    else if (text.length > MAX_RESPONSE) reject(new ScanError('the response is too long'));
  });
  socket.on('error', (cause) => reject(new ScanError('no response', { cause })));
  socket.on('close', () => reject(new ScanError('it closed the connection')));
  return promise;
}
