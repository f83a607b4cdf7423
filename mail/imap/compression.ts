import { constants, createInflateRaw, deflateRawSync, type InflateRaw } from 'node:zlib';

/** Fast: compression runs on the thread of the protocol servers. */
const LEVEL = 3;
/** Octets of one piece of decompressed input. */
const PIECE = 8 * 1024;

/**
 * Compresses octets of one write, ended by an empty block (sync flush), so that the client can decompress them at once.
 * Each write begins with an empty history: an idle session holds no memory for its output. RFC 4978, RFC 1951.
 */
export function compress(octets: Uint8Array): Buffer {
  return deflateRawSync(octets, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH });
}

/** Receives decompressed input, and the failure of an invalid stream or of input after its end. */
export interface InflaterEvents {
  data(piece: Buffer): void;
  /** The compressed input can be read again. */
  drain(): void;
  failed(): void;
}

/**
 * Decompresses the input of one session as it arrives. Holds the window of 32 KiB and one piece: while paused it takes no
 * more than 16 KiB of compressed input, however much that expands to.
 */
export class Inflater {
  readonly #stream: InflateRaw;
  readonly #events: InflaterEvents;
  /** The client ended its stream, as some do with LOGOUT: what came before it is still run. */
  #isEnded = false;

  constructor(events: InflaterEvents) {
    // Sync flush: output is not held back until a block is complete.
    this.#stream = createInflateRaw({ chunkSize: PIECE, flush: constants.Z_SYNC_FLUSH });
    this.#stream.on('data', (piece: Buffer) => events.data(piece));
    this.#stream.on('drain', () => events.drain());
    this.#stream.on('error', () => events.failed());
    this.#stream.on('end', () => (this.#isEnded = true));
    this.#events = events;
  }

  /** Adds compressed input. False: wait for `drain`. */
  write(chunk: Buffer): boolean {
    if (!this.#isEnded) return this.#stream.write(chunk);
    this.#events.failed();
    return true;
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  get isPaused(): boolean {
    return this.#stream.isPaused();
  }

  close(): void {
    this.#stream.destroy();
  }
}
