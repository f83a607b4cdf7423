import { closeSync, openSync, readSync } from 'node:fs';
import { openBlobFile } from '../blob/open-blob-file.ts';
import type { DatabaseConnection } from '../engine/connection.ts';
import type { Row } from '../engine/types.ts';

/** Random access to the octets of one blob, on a thread that may block. */
export interface Octets extends Disposable {
  /** Clipped to the size of the blob. */
  read(start: number, length: number): Uint8Array;
}

/** Where the octets of a blob are: in its row or in a file; nowhere if it was purged. */
export interface BlobRow extends Row {
  file: string | null;
  data: Uint8Array | null;
}

/** Opens a blob; a purged one is empty. `blobs` is the directory of blob files. */
export function openOctets(connection: Pick<DatabaseConnection, 'get'>, blob: number, blobs: string): Octets {
  const row = connection.get<BlobRow>('SELECT file, data FROM blob WHERE id = ?', [blob]);
  return row === undefined ? ofBytes(new Uint8Array(0)) : openRow(row, blobs);
}

/** Opens the blob of a row. `blobs` is the directory of blob files. */
export function openRow({ file, data }: BlobRow, blobs: string): Octets {
  return file === null ? ofBytes(data ?? new Uint8Array(0)) : ofFile(blobs, file);
}

export function ofBytes(data: Uint8Array): Octets {
  return { read: (start, length) => data.subarray(start, start + length), [Symbol.dispose]: () => undefined };
}

/** Opens a blob file. A missing one is empty: its message was just purged. */
export function ofFile(blobs: string, file: string): Octets {
  return ofOpened(() => openBlobFile(blobs, file));
}

/** Opens a file by its path, as {@link ofFile}. */
export function ofPath(path: string): Octets {
  return ofOpened(() => openSync(path, 'r'));
}

function ofOpened(open: () => number): Octets {
  let file: number;
  try {
    file = open();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ofBytes(new Uint8Array(0));
    throw error;
  }
  return {
    read(start, length) {
      const octets = Buffer.allocUnsafeSlow(length);
      let got = 0;
      for (let read = -1; got < length && read !== 0; got += read)
        read = readSync(file, octets, got, length - got, start + got);
      return octets.subarray(0, got);
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}
