import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Log } from '../../mail/log.ts';
import type { Environment } from './environment.ts';
import { killProcessesOf, removePidFile, writePidFile } from './left-over.ts';
import { onLines } from './lines.ts';
import { LogFile, MAX_LINE } from './log-file.ts';
import type { SandboxedProgram } from './sandbox.ts';

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;
/** Run time after which the restart delay is reset. */
const STEADY_MS = 60_000;
const TERM_TIMEOUT_MS = 10_000;
const MAX_STOP_MS = 15_000;
/** Time to read the output of an ended program. */
const MAX_DRAIN_MS = 1_000;

export interface ProgramOptions {
  program: SandboxedProgram;
  environment: Environment;
  logPath: string;
  /** Pid file. */
  pidPath: string;
  name: string;
  log: Log;
}

/** Supervises a program: restarts it with a growing delay, and logs its output. */
export class SupervisedProgram {
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

  get sandbox(): SandboxedProgram {
    return this.#options.program;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when the program runs; rejects if it cannot be started. */
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

  /** Sends SIGTERM, then SIGKILL, to the program and its children. Rejects if that does not end it. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    const { pid } = this;
    if (pid !== undefined) {
      signal(pid, 'SIGTERM');
      const late = setTimeout(() => signal(pid, 'SIGKILL'), TERM_TIMEOUT_MS);
      const { promise, reject } = Promise.withResolvers<void>();
      const never = setTimeout(() => reject(new Error(`program with pid ${pid} does not end`)), MAX_STOP_MS);
      await Promise.race([this.#ended, promise]).finally(() => {
        clearTimeout(late);
        clearTimeout(never);
      });
    }
    await this.#file.close();
  }

  async #spawn(): Promise<void> {
    const { environment } = this.#options;
    const { command, uid, gid, cwd } = this.#options.program;
    const [program = '', ...args] = command;
    // Starts its own process group, so that its children end with it, and passes no other environment variables.
    const child = spawn(program, args, {
      cwd,
      uid,
      gid,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        LANG: process.env['LANG'] ?? 'C.UTF-8',
        ...environment,
        PATH: process.env['PATH'],
        HOME: cwd,
        TMPDIR: cwd,
      },
    });
    const spawned = once(child, 'spawn');
    // Must precede any await, so that stop() finds the process.
    if (child.pid !== undefined) this.#ended = this.#watch(child, child.pid);
    await spawned;
  }

  /** Resolves when the program and all other processes of its user have ended. */
  async #watch(child: ChildProcess, pid: number): Promise<void> {
    const { name, log, pidPath, program } = this.#options;
    this.#child = child;
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const began = performance.now();
    writePidFile(pidPath, pid);
    this.#file.add([`[mailstead] started, pid ${pid}`]);
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    for (const stream of streams) onLines(stream, MAX_LINE, (lines) => this.#file.add(lines));
    const [code, how] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    await drainOutput(closed, pid);
    for (const stream of streams) stream.destroy();
    if (!(await killProcessesOf(program)))
      log.error({ service: name, uid: program.uid }, 'failed to end all processes');
    removePidFile(pidPath);
    this.#child = undefined;
    this.#file.add([`[mailstead] ended with ${how ?? code}`]);
    log.info({ service: name, code, signal: how }, 'supervised program ended');
    if (!this.#stopping) this.#again(performance.now() - began);
  }

  #again(ranMs: number): void {
    if (ranMs > STEADY_MS) this.#wait = FIRST_WAIT_MS;
    const { log, name } = this.#options;
    this.#timer = setTimeout(() => {
      this.#spawn().catch((error: unknown) => {
        log.warn({ err: error, service: name }, 'failed to start a supervised program');
        if (!this.#stopping) this.#again(0);
      });
    }, this.#wait);
    this.#wait = Math.min(MAX_WAIT_MS, this.#wait * 2);
  }
}

/** Ends children that outlive the program: they could hold its output open for ever. */
async function drainOutput(closed: Promise<void>, pid: number): Promise<void> {
  signal(pid, 'SIGTERM');
  const { promise, resolve } = Promise.withResolvers<void>();
  const late = setTimeout(resolve, MAX_DRAIN_MS);
  await Promise.race([closed, promise]);
  clearTimeout(late);
  signal(pid, 'SIGKILL');
}

/** Signals the whole process group. A process of another user (sudo) cannot be signaled; the caller times out. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
