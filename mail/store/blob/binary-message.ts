import { MessageIndexer } from '../../message/indexer.ts';
import { type Part, unpackParts } from '../../message/parts.ts';
import type { BlobFiles, BlobWriter, NewBlob } from './blob.ts';
import { MessageWriter, type WrittenMessage } from './message-writer.ts';

/** Octets read back at once; a multiple of 57, which are one line of base64. */
const CHUNK = 57 * 4096;
const LINE = 57;

type Target = ConstructorParameters<typeof MessageWriter>[0] & { files: BlobFiles };

/**
 * Writes a message that may have NUL octets, of a literal8: parts with Content-Transfer-Encoding: binary become base64, as
 * BODY[] must not have NUL octets. Holds neither the message nor a part in memory. RFC 3516 4.4, RFC 9051 6.3.12.
 */
export class BinaryMessageWriter {
  readonly #target: MessageWriter;
  readonly #files: BlobFiles;
  /** The octets as they came. */
  readonly #spool: BlobWriter;
  readonly #indexer = new MessageIndexer();
  #hasNul = false;

  constructor(target: Target, options: { inFile: boolean }) {
    this.#target = new MessageWriter(target, options);
    this.#files = target.files;
    this.#spool = target.files.createScratch();
  }

  /** Returns a promise if the caller must wait before the next chunk. */
  write(chunk: Buffer): Promise<void> | undefined {
    this.#hasNul ||= chunk.includes(0);
    this.#indexer.push(chunk);
    return this.#spool.write(chunk);
  }

  /** Completes the message; undefined: it has NUL octets outside of binary parts. */
  async complete(): Promise<WrittenMessage | undefined> {
    const blob = await this.#spool.finish();
    const { parts, size } = this.#indexer.end();
    try {
      const binary = this.#hasNul ? unpackParts(parts).filter(isBinary) : [];
      const isText = await this.#copy(blob, size, binary);
      return isText ? await this.#target.complete() : undefined;
    } finally {
      this.#spool.abort();
    }
  }

  release(message: WrittenMessage): void {
    this.#target.release(message);
  }

  abort(): void {
    this.#spool.abort();
    this.#target.abort();
  }

  /** Copies the message with its binary parts encoded. False: a NUL octet would remain. */
  async #copy(blob: NewBlob, size: number, binary: readonly Part[]): Promise<boolean> {
    let at = 0;
    for (const part of binary) {
      const end = part.bodyOffset + part.bodyLength;
      const header = await this.#read(blob, part.headerOffset, part.bodyOffset - part.headerOffset);
      const before = await this.#copyRange(blob, at, part.headerOffset);
      if (!before || header.includes(0)) return false;
      await this.#target.write(withBase64(header));
      await this.#encode(blob, part.bodyOffset, end);
      at = end;
    }
    return this.#copyRange(blob, at, size);
  }

  async #copyRange(blob: NewBlob, from: number, to: number): Promise<boolean> {
    for (let at = from; at < to; at += CHUNK) {
      const piece = await this.#read(blob, at, Math.min(CHUNK, to - at));
      if (piece.includes(0)) return false;
      await this.#target.write(piece);
    }
    return true;
  }

  async #encode(blob: NewBlob, from: number, to: number): Promise<void> {
    for (let at = from; at < to; at += CHUNK) {
      const piece = await this.#read(blob, at, Math.min(CHUNK, to - at));
      const lines: string[] = [];
      for (let i = 0; i < piece.length; i += LINE) lines.push(piece.toString('base64', i, i + LINE));
      const isLast = at + CHUNK >= to;
      await this.#target.write(Buffer.from(`${lines.join('\r\n')}${isLast ? '' : '\r\n'}`));
    }
  }

  /** A copy: the writer owns what it is given. */
  async #read(blob: NewBlob, start: number, length: number): Promise<Buffer> {
    if ('file' in blob) return this.#files.read(blob.file, start, length);
    return Buffer.from(blob.data.subarray(start, start + length));
  }
}

/** A multipart or attached message has parts, and is not encoded itself. RFC 2045 6.4. */
function isBinary({ encoding, type }: Part): boolean {
  return encoding === 'binary' && type !== 'multipart' && type !== 'message';
}

function withBase64(header: Buffer): Buffer {
  const field = /^content-transfer-encoding:[^\n]*\n(?:[ \t][^\n]*\n)*/im;
  return Buffer.from(header.toString('latin1').replace(field, 'Content-Transfer-Encoding: base64\r\n'), 'latin1');
}
