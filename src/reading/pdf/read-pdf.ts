import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Semaphore } from '../../../mail/limits/semaphore.ts';
import type { PdfText, PdfOutcome } from '../../core/text-tasks.ts';

const DEFAULT_TIMEOUT_MS = 8_000;
/** Octets of the child's output: two million characters with JSON escapes. */
const MAX_OUTPUT_OCTETS = 16 * 1024 * 1024;
/** One document at a time; three may wait. */
const QUEUE_LIMITS = { limit: 1, maxWaiting: 3 };
/**
 * Memory in KiB and CPU seconds. Inflated streams are outside V8's heap, so only the system limits them; the limit
 * includes 512 MiB that V8 reserves for code.
 */
const LIMITS = 'ulimit -d 1048576; ulimit -t 10; ulimit -c 0; exec "$0" "$@"';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROGRAM = fileURLToPath(new URL('program.ts', import.meta.url));
const ARGUMENTS = ['--permission', `--allow-fs-read=${ROOT}`, '--max-old-space-size=192', '--no-warnings', PROGRAM];

/** Reads documents one at a time, each in its own process. */
export class PdfReader implements Disposable {
  readonly #turns = new Semaphore(QUEUE_LIMITS);
  #child: ChildProcess | undefined;
  #ended = false;
  readonly #longestMs: number;

  /** A document that takes longer is `unreadable`. */
  constructor(longestMs = DEFAULT_TIMEOUT_MS) {
    this.#longestMs = longestMs;
  }

  /** Reads the text of an untrusted document, which may try to crash the reader or exhaust memory or CPU. */
  async read(octets: Uint8Array): Promise<PdfOutcome> {
    if (this.#turns.isFull) return { kind: 'later' };
    using _permit = await this.#turns.acquire();
    return await this.#readInProcess(octets);
  }

  [Symbol.dispose](): void {
    this.#ended = true;
    this.#child?.kill('SIGKILL');
  }

  async #readInProcess(octets: Uint8Array): Promise<PdfOutcome> {
    if (this.#ended) return { kind: 'later' };
    const child = spawnReader(this.#longestMs);
    this.#child = child;
    const outcome = await outcomeOf(child, octets);
    this.#child = undefined;
    return outcome;
  }
}

function spawnReader(timeout: number) {
  return spawn('/bin/sh', ['-c', LIMITS, process.execPath, ...ARGUMENTS], {
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
