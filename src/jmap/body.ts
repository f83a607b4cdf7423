import type { Readable } from 'node:stream';

/**
 * What is read and thrown away of a body that is too large, in octets: a client that is still writing when the
 * connection closes never reads why.
 */
const MOST_DRAINED = 100_000_000;

/**
 * A connection on which nothing moves for so long while a body is sent or read is closed: the timeout of the socket,
 * which HTTP itself sets again with the next request.
 */
export const SILENCE_MS = 30_000;

/** The client went away in the middle of its body: no fault of ours, and nobody reads the answer. */
export function isCutOff(error: Error & { code?: string }): boolean {
  return error.code === 'ECONNRESET' || error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/** The whole body; undefined when it is larger than `most` octets. */
export async function readBody(body: Readable, most: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > most) pieces.length = 0;
    else pieces.push(piece);
    if (size > most + MOST_DRAINED) break;
  }
  return size > most ? undefined : Buffer.concat(pieces, size);
}

/** Passes a body on up to `most` octets and one more, by which its reader sees that there was more; drains the rest. */
export async function* upTo(body: AsyncIterable<Buffer>, most: number): AsyncIterable<Buffer> {
  let size = 0;
  for await (const piece of body) {
    const before = size;
    size += piece.length;
    if (before <= most) yield piece.subarray(0, Math.min(piece.length, most + 1 - before));
    if (size > most + MOST_DRAINED) return;
  }
}
