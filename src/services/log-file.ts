import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { servicesDir } from './env-file.ts';

/** Then a new file is begun, and the one before is kept. */
const LARGEST = 5 * 1024 * 1024;
/** What a line has more of is left out. */
export const LONGEST_LINE = 4_000;
/** So much of the end of a log is looked through for one request. */
const TAIL = 512 * 1024;

export function logFilePath(dataDir: string, service: number): string {
  return join(servicesDir(dataDir), `svc_${service}.log`);
}

export interface LogLine {
  at: string;
  text: string;
}

/** More than this waiting for the disk is lost, oldest kept. */
const MOST_WAITING = 1024 * 1024;

/** The output of a supervised program, each line with its time. When the file is large another is begun. */
export class LogFile {
  readonly #path: string;
  #stream: WriteStream | undefined;
  #size = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Begins, or goes on with, the file. */
  open(): void {
    this.#size = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    const stream = createWriteStream(this.#path, { flags: 'a', mode: 0o600 });
    // A full disk costs the program its log, not the box its life.
    stream.on('error', () => {
      if (this.#stream === stream) this.#stream = undefined;
    });
    this.#stream = stream;
  }

  /** Adds lines that were said at once. */
  add(texts: readonly string[]): void {
    if (this.#size > LARGEST) this.#turnOver();
    const stream = this.#stream;
    if (stream === undefined || stream.writableLength > MOST_WAITING) return;
    const at = new Date().toISOString();
    const plain = texts.map((text) => `${at} ${text.slice(0, LONGEST_LINE)}\n`).join('');
    const lines = Buffer.from(plain.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, ''));
    this.#size += lines.length;
    stream.write(lines);
  }

  /** Resolves when what was added is with the system, or could not be: a crash does not take that away any more. */
  written(): Promise<void> {
    const stream = this.#stream;
    return new Promise((resolve) => (stream === undefined ? resolve() : stream.write('', () => resolve())));
  }

  close(): Promise<void> {
    const stream = this.#stream;
    this.#stream = undefined;
    return new Promise((resolve) => (stream === undefined ? resolve() : stream.end(resolve)));
  }

  /** What still waits goes into the old file: it is the same one under another name. */
  #turnOver(): void {
    this.#stream?.end();
    try {
      renameSync(this.#path, `${this.#path}.1`);
    } catch {
      // Somebody took the file away.
    }
    this.open();
  }
}

/** The newest `limit` lines since a time (ms UTC), oldest first. */
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
