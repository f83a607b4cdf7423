import { readSync } from 'node:fs';
import { BackupProblem } from './backup-error.ts';
import type { WalIndexState } from './wal-index.ts';

const LOG_HEADER = 32;
const FRAME_HEADER = 24;
/** Frames whose headers are read at once. */
const STEP = 64;

/**
 * Positions in the log of the newest version of each page (counted from 0), up to the end of the last commit. `after`: so
 * many frames are left out.
 */
export function walFrames(
  log: number,
  pageSize: number,
  { frames, salts }: WalIndexState,
  after = 0,
): Map<number, number> {
  const found = new Map<number, number>();
  const frameSize = FRAME_HEADER + pageSize;
  const octets = Buffer.allocUnsafe(STEP * frameSize);
  for (let first = after; first < frames; first += STEP) {
    const count = Math.min(STEP, frames - first);
    const start = LOG_HEADER + first * frameSize;
    const got = readSync(log, octets, 0, count * frameSize, start);
    for (let i = 0; i < count; i++) {
      const at = i * frameSize;
      const whole = at + frameSize <= got && octets.compare(salts, 0, 8, at + 8, at + 16) === 0;
      if (!whole) throw new BackupProblem('The write-ahead log does not match its index. Run mailstead fsck.');
      found.set(octets.readUInt32BE(at) - 1, start + at + FRAME_HEADER);
    }
  }
  return found;
}
