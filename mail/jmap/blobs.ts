import type { BlobRef } from './ids.ts';
import type { JmapDesk } from './method.ts';

/** Octets that have a blob id: a message as it came, a part with its transfer encoding taken off, an upload. */
export interface JmapBlob {
  /** Exact, in octets. */
  size: number;
  /** Media type as declared; application/octet-stream when nobody said. */
  type: string;
  /** From `start` up to and without `end`, in pieces; whole blobs never lie in memory at once. */
  stream(start: number, end: number): AsyncIterable<Buffer>;
}

/** Opens a blob of an account; undefined when the account has none such. RFC 8620 6.2: readable only through it. */
export async function openBlob(_desk: JmapDesk, _account: number, _ref: BlobRef): Promise<JmapBlob | undefined> {
  return Promise.resolve(undefined);
}
