import {
  constants,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
  inflateSync,
} from 'node:zlib';

/** The output of a deflate stream. */
export interface InflateResult {
  octets: Buffer;
  /** Octets of the stream itself. */
  used: number;
  /** False: the stream is broken, or its output is larger than the limit. */
  whole: boolean;
}

export type DeflateFormat = 'raw' | 'zlib' | 'gzip';

const STREAMS = { raw: createInflateRaw, zlib: createInflate, gzip: createGunzip } as const;

/**
 * Inflates a stream that other octets may follow, up to a limit of output, on a thread of libuv's pool. RFC 1950, RFC 1951,
 * RFC 1952.
 */
export async function inflate(format: DeflateFormat, octets: Buffer, limit: number): Promise<InflateResult> {
  const stream = STREAMS[format]({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 64 * 1024 });
  const pieces: Buffer[] = [];
  let size = 0;
  const end = (whole: boolean): InflateResult => ({ octets: Buffer.concat(pieces), used: stream.bytesWritten, whole });
  try {
    stream.end(octets);
    for await (const piece of stream as AsyncIterable<Buffer>) {
      pieces.push(piece);
      size += piece.length;
      if (size > limit) return end(false);
    }
    return end(true);
  } catch {
    return end(false);
  }
}

/** Octets that a word of a text may inflate to. */
const MAX_WORD = 64 * 1024;

/** Inflates a short text in the zlib or gzip format at once; other octets are returned as they are. RFC 1950, RFC 1952. */
export function inflated(octets: Buffer): Buffer {
  const options = { maxOutputLength: MAX_WORD };
  try {
    if (octets[0] === 0x78) return inflateSync(octets, options);
    return octets[0] === 0x1f && octets[1] === 0x8b ? gunzipSync(octets, options) : octets;
  } catch {
    return octets;
  }
}

/** Inflates a file at once, for worker threads. `large`: it has more octets than the limit. RFC 1951, RFC 1952. */
export function inflateWhole(format: 'gzip' | 'raw', octets: Buffer, limit: number): Buffer | 'large' | 'broken' {
  const options = { maxOutputLength: limit };
  try {
    return format === 'gzip' ? gunzipSync(octets, options) : inflateRawSync(octets, options);
  } catch (error) {
    return error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE' ? 'large' : 'broken';
  }
}
