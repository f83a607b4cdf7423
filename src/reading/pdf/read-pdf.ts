import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { TurnQueue } from '../../../mail/limits/turn-queue.ts';
import type { DocumentReader, PdfText, PdfOutcome } from '../../core/text-tasks.ts';

const DEFAULT_TIMEOUT_MS = 8_000;
/** Octets of the child's output: two million characters with JSON escapes. */
const MAX_OUTPUT_OCTETS = 16 * 1024 * 1024;
/** Documents that may wait: of one organization, and in total. */
const MAX_WAITING_EACH = 3;
const MAX_WAITING = 16;
/** Memory that V8 reserves for code, MiB: most of it is never used, and limits count it. */
const RESERVED_MB = 512;
const DEFAULT_MEMORY_MB = 512;
/**
 * Memory in KiB and CPU seconds. Inflated streams are outside V8's heap, so only the system limits them. Out of memory,
 * the system ends this process and not the server.
 */
const LIMITS = 'echo 1000 2>/dev/null >/proc/self/oom_score_adj; ulimit -t 10; ulimit -c 0; ulimit -d';
/** Holder of documents that belong to no organization. */
const BOX = 0;

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROGRAM = fileURLToPath(new URL('program.ts', import.meta.url));
const ARGUMENTS = ['--permission', `--allow-fs-read=${ROOT}`, '--max-old-space-size=192', '--no-warnings', PROGRAM];

/** Reads documents one at a time, each in its own process. Organizations take turns. */
export class PdfReader implements DocumentReader, Disposable {
  /** Called in turn: a document may be read. */
  readonly #waiting = new TurnQueue<() => void>();
  #child: ChildProcess | undefined;
  #isReading = false;
  #ended = false;
  readonly #longestMs: number;
  readonly #memoryMb: number;

  /** A document that takes longer, or more memory, is `unreadable`. */
  constructor(longestMs = DEFAULT_TIMEOUT_MS, memoryMb = DEFAULT_MEMORY_MB) {
    this.#longestMs = longestMs;
    this.#memoryMb = memoryMb;
  }

  for(organization: number): DocumentReader {
    return { read: (octets) => this.read(octets, organization), for: (other) => this.for(other) };
  }

  /** Reads the text of an untrusted document, which may try to crash the reader or exhaust memory or CPU. */
  async read(octets: Uint8Array, organization = BOX): Promise<PdfOutcome> {
    if (this.#isReading) {
      const isFull = this.#waiting.size >= MAX_WAITING || this.#waiting.sizeOf(organization) >= MAX_WAITING_EACH;
      if (isFull) return { kind: 'later' };
      await new Promise<void>((resolve) => this.#waiting.push(organization, resolve));
    }
    this.#isReading = true;
    try {
      return await this.#readInProcess(octets);
    } finally {
      const next = this.#waiting.shift();
      // The next one reads at once: nobody who comes between takes its turn.
      if (next === undefined) this.#isReading = false;
      else next();
    }
  }

  [Symbol.dispose](): void {
    this.#ended = true;
    this.#child?.kill('SIGKILL');
  }

  async #readInProcess(octets: Uint8Array): Promise<PdfOutcome> {
    if (this.#ended) return { kind: 'later' };
    const child = spawnReader(this.#longestMs, this.#memoryMb);
    this.#child = child;
    const outcome = await outcomeOf(child, octets);
    this.#child = undefined;
    return outcome;
  }
}

function spawnReader(timeout: number, memoryMb: number) {
  const limits = `${LIMITS} ${(RESERVED_MB + memoryMb) * 1024}; exec "$0" "$@"`;
  return spawn('/bin/sh', ['-c', limits, process.execPath, ...ARGUMENTS], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout,
    killSignal: 'SIGKILL',
  });
}

function outcomeOf(child: ReturnType<typeof spawnReader>, octets: Uint8Array): Promise<PdfOutcome> {
  const { promise, resolve } = Promise.withResolvers<PdfOutcome>();
  const output: Buffer[] = [];
  let size = 0;
  child.stdout.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size > MAX_OUTPUT_OCTETS) child.kill('SIGKILL');
    else output.push(piece);
  });
  child.on('error', () => resolve({ kind: 'unreadable' }));
  child.on('close', (code) => resolve(code === 0 ? parseOutput(Buffer.concat(output)) : { kind: 'unreadable' }));
  // The child may exit before it has read everything.
  child.stdin.on('error', () => undefined);
  child.stdin.end(octets);
  return promise;
}

function parseOutput(json: Buffer): PdfOutcome {
  try {
    const { text, hidden, pages, cut } = JSON.parse(json.toString('utf8')) as Partial<PdfText>;
    // A document that compromised the child can write any output.
    const texts = typeof text === 'string' && typeof hidden === 'string';
    const sound = texts && typeof pages === 'number' && typeof cut === 'boolean';
    return sound ? { kind: 'read', text, hidden, pages, cut } : { kind: 'unreadable' };
  } catch {
    return { kind: 'unreadable' };
  }
}
