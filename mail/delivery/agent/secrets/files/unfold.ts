import { createGunzip, createInflate, createInflateRaw, constants } from 'node:zlib';

/** What came out of a packed stream. */
export interface Unfolded {
  octets: Buffer;
  /** Octets of the stream itself. */
  used: number;
  /** It came to its end; else it is broken, or larger than it may be. */
  whole: boolean;
}

export type Packing = 'raw' | 'zlib' | 'gzip';

const UNFOLDING = { raw: createInflateRaw, zlib: createInflate, gzip: createGunzip } as const;

/** Unfolds a deflate stream with what stands behind it, up to so many octets, on a thread of its own. RFC 1950, RFC 1951, RFC 1952. */
export async function unfold(packing: Packing, octets: Buffer, most: number): Promise<Unfolded> {
  const stream = UNFOLDING[packing]({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 64 * 1024 });
  const pieces: Buffer[] = [];
  let size = 0;
  const end = (whole: boolean): Unfolded => ({ octets: Buffer.concat(pieces), used: stream.bytesWritten, whole });
  try {
    stream.end(octets);
    for await (const piece of stream as AsyncIterable<Buffer>) {
      pieces.push(piece);
      size += piece.length;
      if (size > most) return end(false);
    }
    return end(true);
  } catch {
    return end(false);
  }
}
