import { closeSync, openSync, readSync } from 'node:fs';

/** Reads pieces of one message on a thread that may wait for the disk. Close it. */
export interface MessageReader extends Disposable {
  /** Clipped to what is there. */
  read(this: void, start: number, length: number): Uint8Array;
}

/** `where`: the octets, or the path of the file that has them. */
export function openMessage(where: Uint8Array | string): MessageReader {
  if (typeof where !== 'string') {
    return { read: (start, length) => where.subarray(start, start + length), [Symbol.dispose]: () => undefined };
  }
  const file = openSync(where, 'r');
  return {
    read(start, length) {
      const piece = Buffer.allocUnsafe(length);
      let got = 0;
      for (let more = 1; more > 0 && got < length; got += more) {
        more = readSync(file, piece, got, length - got, start + got);
      }
      return piece.subarray(0, got);
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}
