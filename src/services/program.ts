import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Log } from '../../mail/log.ts';
import type { Environment } from './environment.ts';
import { LogFile } from './log-file.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Whoever ran so long began well: the next wait is short again. */
const STEADY_MS = 60_000;
const PATIENCE_MS = 10_000;

export interface ProgramOptions {
  command: readonly string[];
  environment: Environment;
  logPath: string;
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
    await this.#spawn();
  }

  /** SIGTERM to the program and its children, and SIGKILL when they stay. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    const { pid } = this;
    if (pid !== undefined) {
      signal(pid, 'SIGTERM');
      const late = setTimeout(() => signal(pid, 'SIGKILL'), PATIENCE_MS);
      await this.#ended;
      clearTimeout(late);
    }
    await this.#file.close();
  }

  async #spawn(): Promise<void> {
    const { environment, name, log } = this.#options;
    const [program = '', ...args] = this.#options.command;
    // Its own process group, so that what it starts ends with it. Nothing of this process's environment goes along.
    const child = spawn(program, args, {
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], LANG: process.env['LANG'] ?? 'C.UTF-8', ...environment },
    });
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    this.#child = child;
    const began = performance.now();
    this.#file.line(`[mailstead] started, pid ${child.pid}`);
    for (const stream of [child.stdout, child.stderr]) this.#follow(stream);
    this.#ended = new Promise((resolve) => {
      child.once('close', (code, how) => {
        this.#child = undefined;
        this.#file.line(`[mailstead] ended with ${how ?? code}`);
        log.info({ service: name, code, signal: how }, 'a supervised program ended');
        resolve();
        if (!this.#stopping) this.#again(performance.now() - began);
      });
    });
  }

  #follow(stream: NodeJS.ReadableStream): void {
    createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => this.#file.line(line));
  }

  #again(ranMs: number): void {
    if (ranMs > STEADY_MS) this.#wait = FIRST_WAIT_MS;
    const { log, name } = this.#options;
    this.#timer = setTimeout(() => {
      this.#spawn().catch((error: unknown) => {
        log.warn({ err: error, service: name }, 'a supervised program does not start');
        this.#again(0);
      });
    }, this.#wait);
    this.#wait = Math.min(LONGEST_WAIT_MS, this.#wait * 2);
  }
}

/** To the whole process group. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
