import { mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const PLACE = '/dev/shm';
const NEEDED = 4 * 2 ** 30;

/** Compiled code, kept between runs: threads and programs that tests start load a thousand modules each. */
const COMPILED = join(import.meta.dirname, '../../node_modules/.cache/mailstead-test');

/**
 * Lets a run keep its temporary files in memory where there is room for it, as Debian has it: thousands of commits are
 * flushed, and each waits for the disk. What a flush is worth is for the suite of faults, which stays on the disk. `TMPDIR`
 * says otherwise.
 */
export function setup(): (() => void) | undefined {
  process.env['NODE_COMPILE_CACHE'] ??= COMPILED;
  if (process.env['TMPDIR'] !== undefined || !isFit()) return undefined;
  const directory = mkdtempSync(`${PLACE}/mailstead-`);
  process.env['TMPDIR'] = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}

/** In memory, with room, and a place whose programs may run: some tests write theirs. */
function isFit(): boolean {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '));
    const [, , type, options = 'noexec'] = mounts.findLast(([, at]) => at === PLACE) ?? [];
    const { bavail, bsize } = statfsSync(PLACE);
    return type === 'tmpfs' && !options.split(',').includes('noexec') && bavail * bsize >= NEEDED;
  } catch {
    return false;
  }
}
