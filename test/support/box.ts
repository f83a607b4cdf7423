import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type ControlAnswer, callServer } from '../../src/operator-socket/client.ts';
import { databaseOfDirectory, dropDatabaseOfDirectory } from './test-database.ts';
import { freePort } from './free-port.ts';
import { cpuOfProcess } from './process-cost.ts';

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
/** Generous, because the machine may be busy. */
const MAX_START_MS = 240_000;
const MAX_STOP_MS = 35_000;

export type ListenerName = 'smtp' | 'submission' | 'submissions' | 'imap' | 'imaps' | 'http' | 'https' | 'dns';

export interface BoxOptions {
  /** Runs live mode under this host name, still on loopback. */
  hostname?: string;
  /** Additional settings without the prefix MAILSTEAD_; they override the defaults. */
  settings?: Readonly<Record<string, string>>;
  /** Existing directory, which is kept; by default a temporary one. */
  dataDir?: string;
  /** Command prefix such as `['strace', '-f']`. Signals go to that program. */
  wrapper?: readonly string[];
}

/** A JSON line of the log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

/** The appliance as a process of its own, on free ports of loopback. */
export class Box implements AsyncDisposable {
  /** The mailbox of local mode, and its password. */
  readonly address = 'me@box.test';
  readonly password = 'correct-horse-battery';
  readonly dataDir: string;
  /** Log lines of all starts. */
  readonly log: LogLine[] = [];
  /** All printed lines of all starts, standard error included. */
  readonly printed: string[] = [];
  /** Time from spawn to the ready line of the last start. */
  startMs = 0;
  /** CPU time of the last start up to its ready line, ms; of the wrapper where there is one. */
  startCpu = 0;
  #ports: Readonly<Partial<Record<ListenerName, number>>> = {};
  #child: ChildProcess | undefined;
  #ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }> | undefined;
  readonly #options: BoxOptions;
  #listeners: (() => void)[] = [];

  constructor(dataDir: string, options: BoxOptions) {
    this.dataDir = dataDir;
    this.#options = options;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('the box is not running');
    return pid;
  }

  /** Port of a listener; stays the same over restarts. */
  port(listener: ListenerName): number {
    const port = this.#ports[listener];
    if (port === undefined) throw new Error(`the box has no listener ${listener}`);
    return port;
  }

  get ports(): Readonly<Partial<Record<ListenerName, number>>> {
    return this.#ports;
  }

  /** Environment for commands that talk to this box, `bin/mailstead` among them. */
  get env(): NodeJS.ProcessEnv {
    const rest = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('MAILSTEAD_') && name !== 'NODE_OPTIONS',
    );
    return { ...Object.fromEntries(rest), MAILSTEAD_DATA_DIR: this.dataDir };
  }

  /** Starts the process and waits until it is ready; throws with its output if it exits first. */
  async start(): Promise<void> {
    if (this.#child !== undefined) throw new Error('the box is running already');
    const from = performance.now();
    const [program, ...args] = [...(this.#options.wrapper ?? []), COMMAND];
    const child = spawn(program, [...args, 'serve'], {
      env: { ...this.env, ...(await this.#settings()) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    // Not 'exit': all output is read by then.
    this.#ended = once(child, 'close').then(([code, signal]) => {
      this.#child = undefined;
      this.#changed();
      return { code: code as number | null, signal: signal as NodeJS.Signals | null };
    });
    const first = this.log.length;
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => this.#print(line));
    }
    const ready = await this.#waitFor(
      () =>
        this.log.slice(first).find((line) => line.msg === 'ready') ?? (this.#child === undefined ? 'ended' : undefined),
      'ready',
      MAX_START_MS,
    );
    if (ready === 'ended') throw new Error(`the box ended before it was ready:\n${this.printed.slice(-20).join('\n')}`);
    this.startMs = performance.now() - from;
    this.startCpu = cpuOfProcess(this.pid);
    this.#ports = ready['listeners'] as Record<ListenerName, number>;
  }

  /** Stops with SIGTERM; throws if it takes too long or exits with another code than 0. */
  async stop(): Promise<void> {
    const { code, signal } = await this.#end('SIGTERM');
    if (code === 0) return;
    throw new Error(`the box ended with ${code ?? signal}:\n${this.printed.slice(-20).join('\n')}`);
  }

  /** Kills with SIGKILL, like a crash. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Waits for the exit and returns its code and signal. */
  async ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    if (this.#ended === undefined) throw new Error('the box was never started');
    return this.#ended;
  }

  /** Restarts on the same ports and data. */
  async restart(): Promise<void> {
    if (this.#child !== undefined) await this.stop();
    await this.start();
  }

  /** True while the process runs. */
  get running(): boolean {
    return this.#child !== undefined;
  }

  /** Calls an operation over the operator's socket. */
  async ask(operation: string, input: object = {}): Promise<unknown> {
    const answer: ControlAnswer = await callServer(this.dataDir, operation, input);
    if (answer.kind !== 'done') throw new Error(`${operation}: ${answer.message}`);
    return answer.result;
  }

  /** Waits for a log line; earlier lines count too. */
  logged(found: (line: LogLine) => boolean, what = 'a line of the log'): Promise<LogLine> {
    return this.#waitFor(() => this.log.find(found), what, MAX_START_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child !== undefined) await this.#end('SIGKILL');
    if (this.#options.dataDir !== undefined) return;
    await dropDatabaseOfDirectory(this.dataDir);
    await rm(this.dataDir, { recursive: true, force: true });
  }

  async #settings(): Promise<Record<string, string>> {
    const { hostname } = this.#options;
    const database = this.#options.settings?.['DATABASE'] ?? (await databaseOfDirectory(this.dataDir));
    const ports: Record<string, string> = {};
    for (const listener of ['smtp', 'submission', 'submissions', 'imap', 'imaps', 'http', 'https'] as const) {
      ports[`${listener.toUpperCase()}_PORT`] = String(this.#ports[listener] ?? (await freePort()));
    }
    const all: Record<string, string> = {
      ...ports,
      ...(hostname === undefined
        ? { LOCAL_PASSWORD: this.password }
        : {
            HOSTNAME: hostname,
            LISTEN: '127.0.0.1',
            ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
            // Tests speak plain HTTP to a live box, as behind a proxy.
            BASE_URL: `http://${hostname}`,
            BOOTSTRAP: 'open',
          }),
      LOG_FORMAT: 'json',
      ...(database !== undefined && { DATABASE: database }),
      ...this.#options.settings,
    };
    return Object.fromEntries(Object.entries(all).map(([name, value]) => [`MAILSTEAD_${name}`, value]));
  }

  #print(line: string): void {
    this.printed.push(line);
    const parsed = line.startsWith('{') ? asLog(line) : undefined;
    if (parsed !== undefined) this.log.push(parsed);
    this.#changed();
  }

  #changed(): void {
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const wake of listeners) wake();
  }

  async #waitFor<T>(found: () => T | undefined, what: string, patienceMs: number): Promise<T> {
    const late = AbortSignal.timeout(patienceMs);
    for (;;) {
      const value = found();
      if (value !== undefined) return value;
      if (late.aborted) throw new Error(`timed out waiting for ${what}:\n${this.printed.slice(-20).join('\n')}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#listeners.push(resolve);
      late.addEventListener('abort', () => resolve(), { once: true });
      await promise;
    }
  }

  async #end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    if (this.#child === undefined || this.#ended === undefined) throw new Error('the box is not running');
    const child = this.#child;
    child.kill(signal);
    const tooLong = setTimeout(() => child.kill('SIGKILL'), MAX_STOP_MS);
    try {
      return await this.#ended;
    } finally {
      clearTimeout(tooLong);
    }
  }
}

function asLog(line: string): LogLine | undefined {
  try {
    const value = JSON.parse(line) as unknown;
    const isLine = typeof value === 'object' && value !== null && 'msg' in value && typeof value.msg === 'string';
    return isLine ? (value as LogLine) : undefined;
  } catch {
    return undefined;
  }
}

/** Starts a server and waits until it is ready. In local mode `box.address` and `box.password` log in. */
export async function startBox(options: BoxOptions = {}): Promise<Box> {
  const box = new Box(options.dataDir ?? (await mkdtemp(join(tmpdir(), 'box-'))), options);
  try {
    await box.start();
    return box;
  } catch (error) {
    await box[Symbol.asyncDispose]();
    throw error;
  }
}
