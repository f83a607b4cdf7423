import { open } from 'node:fs/promises';

const CHUNK = 64 * 1024;

/** The octets of a message that is in memory, or in the file of this path. */
export async function* octetsOf(where: Uint8Array | string): AsyncIterable<Buffer> {
  if (typeof where !== 'string') {
    yield Buffer.from(where.buffer, where.byteOffset, where.byteLength);
    return;
  }
  await using file = await open(where, 'r');
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}
