import { endianness } from 'node:os';
import { readSync } from 'node:fs';

/** Octets of one copy of the header; there are two, then the state of checkpoints. */
const HEADER = 48;
const LENGTH = 2 * HEADER + 4;
const LITTLE = endianness() === 'LE';

/** State of a write-ahead log, from the index that SQLite shares between processes. */
export interface WalIndexState {
  /** Frames up to the end of the last commit. */
  frames: number;
  /** Frames that a checkpoint has written into the database and flushed. */
  backfilled: number;
  /** Octets 12 to 48 of the header: number of frames, pages, checksum and salts. */
  header: Buffer;
  /** Identifies the log until it is started anew; as in the header of the log. */
  salts: Buffer;
}

/** Reads the index; undefined while it is being written. Numbers have the byte order of the machine. */
export function readWalIndex(file: number): WalIndexState | undefined {
  const octets = Buffer.alloc(LENGTH);
  if (readSync(file, octets, 0, LENGTH, 0) < LENGTH) return undefined;
  const header = octets.subarray(0, HEADER);
  if (!header.equals(octets.subarray(HEADER, 2 * HEADER)) || header[12] !== 1) return undefined;
  const number = (at: number): number => (LITTLE ? octets.readUInt32LE(at) : octets.readUInt32BE(at));
  return {
    frames: number(16),
    backfilled: number(2 * HEADER),
    header,
    salts: header.subarray(32, 40),
  };
}

/** True if no transaction was committed, and the log was not started anew, between the two. */
export function sameIndex(before: WalIndexState, after: WalIndexState): boolean {
  return before.header.equals(after.header);
}
