import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { servicesDir } from './env-file.ts';
import type { LogLine } from '../core/service-runner.ts';

/** Octets before rotation; one old file is kept. */
const MAX_FILE = 5 * 1024 * 1024;
/** Characters of a line; the rest is cut. */
export const MAX_LINE = 4_000;
/** Octets at the end of a log that one request reads. */
const TAIL = 512 * 1024;

export function logFilePath(dataDir: string, service: number): string {
  return join(servicesDir(dataDir), `svc_${service}.log`);
}

/** Octets waiting for the disk; more is dropped. */
const MAX_BUFFERED = 1024 * 1024;

/** Log of a supervised program, each line with its time; rotated by size. */
export class LogFile {
  readonly #path: string;
  #stream: WriteStream | undefined;
  #size = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Opens the file for appending. */
  open(): void {
    this.#size = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    const stream = createWriteStream(this.#path, { flags: 'a', mode: 0o600 });
    // A full disk loses the log, but must not end the box.
    stream.on('error', () => {
      if (this.#stream === stream) this.#stream = undefined;
    });
    this.#stream = stream;
  }

  /** Appends lines with the same time. */
  add(texts: readonly string[]): void {
    if (this.#size > MAX_FILE) this.#turnOver();
    const stream = this.#stream;
    if (stream === undefined || stream.writableLength > MAX_BUFFERED) return;
    const at = new Date().toISOString();
    const plain = texts.map((text) => `${at} ${text.slice(0, MAX_LINE)}\n`).join('');
    const lines = Buffer.from(plain.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, ''));
    this.#size += lines.length;
    stream.write(lines);
  }

  /** Resolves when added lines are with the operating system, or failed. */
  written(): Promise<void> {
    const stream = this.#stream;
    return new Promise((resolve) => (stream === undefined ? resolve() : stream.write('', () => resolve())));
  }

  close(): Promise<void> {
    const stream = this.#stream;
    this.#stream = undefined;
    return new Promise((resolve) => (stream === undefined ? resolve() : stream.end(resolve)));
  }

  /** Rotates the file; pending writes still go to the renamed one. */
  #turnOver(): void {
    this.#stream?.end();
    try {
      renameSync(this.#path, `${this.#path}.1`);
    } catch {
      // Ignores a file that was deleted.
    }
    this.open();
  }
}

/** Newest `limit` lines since a time (ms UTC), oldest first. */
export async function readLogFile(
  path: string,
  { since, limit }: { since: number; limit: number },
): Promise<LogLine[]> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return [];
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    const lines = buffer
      .toString('utf8', 0, bytesRead)
      .split('\n')
      .slice(from === 0 ? 0 : 1, -1);
    return lines
      .map((line) => ({ at: line.slice(0, 24), text: line.slice(25) }))
      .filter((line) => Date.parse(line.at) >= since)
      .slice(-limit);
  } finally {
    await file.close();
  }
}
