import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own that can be filled and made empty again. Needs root. */
export class SmallDisk implements Disposable {
  readonly path: string;
  readonly #image: string | undefined;
  #fillers = 0;

  constructor(kind: 'tmpfs' | 'ext4', mebibytes: number) {
    this.path = mkdtempSync(join(tmpdir(), 'small-disk-'));
    if (kind === 'tmpfs') {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'small', this.path]);
      return;
    }
    this.#image = `${this.path}.img`;
    execFileSync('truncate', ['-s', `${mebibytes}M`, this.#image]);
    // Without the blocks that are kept for root, as the server may well be root here.
    execFileSync('mkfs.ext4', ['-q', '-m', '0', this.#image]);
    execFileSync('mount', ['-o', 'loop', this.#image, this.path]);
  }

  get free(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  /** Takes all but `left` octets, and the last ones too when that is 0. */
  fill(left = 0): void {
    const file = openSync(join(this.path, `filler-${this.#fillers++}`), 'w');
    try {
      for (const size of [2 ** 20, 4096, 1]) {
        const block = Buffer.alloc(size, 1);
        // A short write comes when there is no room for the whole.
        while (this.#hasRoom(size, left)) {
          if (writeSync(file, block) < size) break;
        }
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  #hasRoom(size: number, left: number): boolean {
    return left === 0 || this.free - size >= left;
  }

  /** Gives back what was taken. */
  release(): void {
    while (this.#fillers > 0) unlinkSync(join(this.path, `filler-${--this.#fillers}`));
  }

  [Symbol.dispose](): void {
    execFileSync('umount', ['-l', this.path]);
    rmSync(this.path, { recursive: true, force: true });
    if (this.#image !== undefined) rmSync(this.#image, { force: true });
  }
}
