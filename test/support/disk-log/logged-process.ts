import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDiskLog, type DiskRecord } from './disk.ts';

/** A log of what processes do to the files below `root`. */
export class DiskLog implements Disposable {
  readonly root: string;
  readonly #directory = mkdtempSync(join(tmpdir(), 'disk-log-'));
  readonly #path = join(this.#directory, 'log');
  readonly #library = join(this.#directory, 'record.so');

  /** Compiles the library that records. */
  constructor(root: string) {
    this.root = root;
    const source = join(import.meta.dirname, 'record.c');
    execFileSync('gcc', [
      '-O2',
      '-Wall',
      '-Wextra',
      '-Werror',
      '-shared',
      '-fPIC',
      '-o',
      this.#library,
      source,
      '-ldl',
    ]);
  }

  /** Environment of a process that is recorded. */
  get env(): Record<string, string> {
    return { LD_PRELOAD: this.#library, DISK_LOG: this.#path, DISK_LOG_ROOT: this.root };
  }

  /** The same as a command in front of one. */
  get wrapper(): string[] {
    return ['env', ...Object.entries(this.env).map(([name, value]) => `${name}=${value}`)];
  }

  /** Octets so far. What a process has said by now happened before this. */
  get size(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
  }

  records(): DiskRecord[] {
    return readDiskLog(this.#path);
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true });
  }
}
