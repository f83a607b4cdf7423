import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What the text of a document is. */
export interface PdfAnswer {
  text: string;
  /** What stands in it and nobody sees: without ink, white on the page, too small, or outside of it. */
  hidden: string;
  pages: number;
  /** There is more than is read. */
  cut: boolean;
}

/** `later`: others are being read. `unreadable`: it is broken, locked, or takes more than it may. */
export type PdfOutcome = ({ kind: 'read' } & PdfAnswer) | { kind: 'unreadable' | 'later' };

const LONGEST_MS = 8_000;
/** Octets of the answer: two million characters, each as long as JSON can make it. */
const MOST_ANSWER = 16 * 1024 * 1024;
/** Documents that are read or wait for it. */
const MOST_AT_ONCE = 4;
/**
 * KiB of memory, and seconds of a processor. What a stream unfolds into lies outside of V8's heap: only the system counts
 * it, with the 512 MiB that V8 sets aside for code and never fills.
 */
const LIMITS = 'ulimit -d 1048576; ulimit -t 10; ulimit -c 0; exec "$0" "$@"';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROGRAM = fileURLToPath(new URL('program.ts', import.meta.url));
const ARGUMENTS = ['--permission', `--allow-fs-read=${ROOT}`, '--max-old-space-size=192', '--no-warnings', PROGRAM];

/** Reads documents one after the other, each in a process of its own. */
export class PdfReader implements Disposable {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #child: ChildProcess | undefined;
  #ended = false;
  readonly #longestMs: number;

  /** A document that takes longer is left unread. */
  constructor(longestMs = LONGEST_MS) {
    this.#longestMs = longestMs;
  }

  /** The text of a document of a stranger. It may try to crash, fill or keep busy whoever reads it. */
  async read(octets: Uint8Array): Promise<PdfOutcome> {
    if (this.#waiting >= MOST_AT_ONCE) return { kind: 'later' };
    this.#waiting += 1;
    const mine = this.#last.then(() => this.#readApart(octets));
    this.#last = mine;
    try {
      return await mine;
    } finally {
      this.#waiting -= 1;
    }
  }

  [Symbol.dispose](): void {
    this.#ended = true;
    this.#child?.kill('SIGKILL');
  }

  async #readApart(octets: Uint8Array): Promise<PdfOutcome> {
    if (this.#ended) return { kind: 'later' };
    const child = begin(this.#longestMs);
    this.#child = child;
    const outcome = await outcomeOf(child, octets);
    this.#child = undefined;
    return outcome;
  }
}

function begin(timeout: number) {
  return spawn('/bin/sh', ['-c', LIMITS, process.execPath, ...ARGUMENTS], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout,
    killSignal: 'SIGKILL',
  });
}

function outcomeOf(child: ReturnType<typeof begin>, octets: Uint8Array): Promise<PdfOutcome> {
  const { promise, resolve } = Promise.withResolvers<PdfOutcome>();
  const said: Buffer[] = [];
  let size = 0;
  child.stdout.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size > MOST_ANSWER) child.kill('SIGKILL');
    else said.push(piece);
  });
  child.on('error', () => resolve({ kind: 'unreadable' }));
  child.on('close', (code) => resolve(code === 0 ? understood(Buffer.concat(said)) : { kind: 'unreadable' }));
  // It may be gone before it has read all.
  child.stdin.on('error', () => undefined);
  child.stdin.end(octets);
  return promise;
}

function understood(json: Buffer): PdfOutcome {
  try {
    const { text, hidden, pages, cut } = JSON.parse(json.toString('utf8')) as Partial<PdfAnswer>;
    // A document that took the program over could make it say anything.
    const texts = typeof text === 'string' && typeof hidden === 'string';
    const sound = texts && typeof pages === 'number' && typeof cut === 'boolean';
    return sound ? { kind: 'read', text, hidden, pages, cut } : { kind: 'unreadable' };
  } catch {
    return { kind: 'unreadable' };
  }
}
