import type { MailStore } from '../store/store.ts';

/** Octets of a message before its commit: small ones in memory, large ones already in a file. */
export interface MessageOctets {
  data: Uint8Array | null;
  file: { file: string; size: number } | null;
}

/** Reads a range of the octets of a message. */
export type OctetReader = (start: number, length: number) => Promise<Buffer>;

/** Creates a reader of octets that are not committed yet. */
export function createOctetReader({ files }: Pick<MailStore, 'files'>, { data, file }: MessageOctets): OctetReader {
  if (file !== null) return (start, length) => files.read(file.file, start, length);
  const octets = data === null ? Buffer.alloc(0) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return (start, length) => Promise.resolve(octets.subarray(start, start + length));
}
