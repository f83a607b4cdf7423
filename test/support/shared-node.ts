import { chmodSync, copyFileSync, linkSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const OTHERS_MAY_ENTER = 0o001;

/** Path of a Node that any user can run: the checkout may lie in a directory that only its owner may enter. */
export function sharedNode(): string {
  return (path ??= isOpen(process.execPath) ? process.execPath : placeOpenly(process.execPath));
}

let path: string | undefined;

function isOpen(file: string): boolean {
  for (let at = dirname(file); ; at = dirname(at)) {
    if ((statSync(at).mode & OTHERS_MAY_ENTER) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

function placeOpenly(file: string): string {
  // The directory of a suite's temporary files may be closed to others as well.
  const parent = [tmpdir(), '/dev/shm', '/tmp'].find((one) => isOpen(join(one, 'node'))) ?? tmpdir();
  const directory = mkdtempSync(join(parent, 'mailstead-node-'));
  chmodSync(directory, 0o755);
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const placed = join(directory, 'node');
  try {
    linkSync(file, placed);
  } catch {
    copyFileSync(file, placed);
  }
  return placed;
}
