import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Log } from '../../mail/log.ts';
import type { Environment } from './environment.ts';
import { forgetProgram, rememberProgram } from './left-over.ts';
import { onLines } from './lines.ts';
import { LogFile, LONGEST_LINE } from './log-file.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Whoever ran so long began well: the next wait is short again. */
const STEADY_MS = 60_000;
const PATIENCE_MS = 10_000;
const LONGEST_STOP_MS = 15_000;
/** So long the output of a program that has ended is still read. */
const LAST_WORDS_MS = 1_000;

export interface ProgramOptions {
  command: readonly string[];
  environment: Environment;
  logPath: string;
  /** Where its pid is kept while it runs. */
  pidPath: string;
  name: string;
  log: Log;
}

/** A program that is kept running: started again when it ends, ever later when it ends soon. Its output is its log. */
export class Program {
  readonly #options: ProgramOptions;
  #child: ChildProcess | undefined;
  readonly #file: LogFile;
  #timer: NodeJS.Timeout | undefined;
  #wait = FIRST_WAIT_MS;
  #stopping = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: ProgramOptions) {
    this.#options = options;
    this.#file = new LogFile(options.logPath);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when the program runs; rejects when it cannot be started at all. */
  async start(): Promise<void> {
    this.#file.open();
    try {
      await this.#spawn();
      await this.#file.written();
    } catch (error) {
      await this.#file.close();
      throw error;
    }
  }

  /** SIGTERM to the program and its children, and SIGKILL when they stay. Rejects when that does not end it either. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    const { pid } = this;
    if (pid !== undefined) {
      signal(pid, 'SIGTERM');
      const late = setTimeout(() => signal(pid, 'SIGKILL'), PATIENCE_MS);
      const { promise, reject } = Promise.withResolvers<void>();
      const never = setTimeout(() => reject(new Error(`the program, pid ${pid}, does not end`)), LONGEST_STOP_MS);
      await Promise.race([this.#ended, promise]).finally(() => {
        clearTimeout(late);
        clearTimeout(never);
      });
    }
    await this.#file.close();
  }

  async #spawn(): Promise<void> {
    const { environment } = this.#options;
    const [program = '', ...args] = this.#options.command;
    // Its own process group, so that what it starts ends with it. Nothing of this process's environment goes along.
    const child = spawn(program, args, {
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], LANG: process.env['LANG'] ?? 'C.UTF-8', ...environment },
    });
    const spawned = once(child, 'spawn');
    // Before anything is waited for, so that whoever stops it meanwhile finds it.
    if (child.pid !== undefined) this.#ended = this.#watch(child, child.pid);
    await spawned;
  }

  /** Resolves when the program has ended, with what it started. */
  async #watch(child: ChildProcess, pid: number): Promise<void> {
    const { name, log, pidPath } = this.#options;
    this.#child = child;
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const began = performance.now();
    rememberProgram(pidPath, pid);
    this.#file.add([`[mailstead] started, pid ${pid}`]);
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    for (const stream of streams) onLines(stream, LONGEST_LINE, (lines) => this.#file.add(lines));
    const [code, how] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    await lastWords(closed, pid);
    for (const stream of streams) stream.destroy();
    forgetProgram(pidPath);
    this.#child = undefined;
    this.#file.add([`[mailstead] ended with ${how ?? code}`]);
    log.info({ service: name, code, signal: how }, 'a supervised program ended');
    if (!this.#stopping) this.#again(performance.now() - began);
  }

  #again(ranMs: number): void {
    if (ranMs > STEADY_MS) this.#wait = FIRST_WAIT_MS;
    const { log, name } = this.#options;
    this.#timer = setTimeout(() => {
      this.#spawn().catch((error: unknown) => {
        log.warn({ err: error, service: name }, 'a supervised program does not start');
        if (!this.#stopping) this.#again(0);
      });
    }, this.#wait);
    this.#wait = Math.min(LONGEST_WAIT_MS, this.#wait * 2);
  }
}

/** A child that lives on may hold the output open for ever: it is asked to end, and then made to. */
async function lastWords(closed: Promise<void>, pid: number): Promise<void> {
  signal(pid, 'SIGTERM');
  const { promise, resolve } = Promise.withResolvers<void>();
  const late = setTimeout(resolve, LAST_WORDS_MS);
  await Promise.race([closed, promise]);
  clearTimeout(late);
  signal(pid, 'SIGKILL');
}

/** To the whole process group. One that became another user's (sudo) cannot be reached; who waits finds that out. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
