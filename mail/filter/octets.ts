import { open } from 'node:fs/promises';

const CHUNK = 64 * 1024;

/** Reads a message from memory, or from the file with this path. */
export async function* octetsOf(source: Uint8Array | string): AsyncIterable<Buffer> {
  if (typeof source !== 'string') {
    yield Buffer.from(source.buffer, source.byteOffset, source.byteLength);
    return;
  }
  await using file = await open(source, 'r');
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}
