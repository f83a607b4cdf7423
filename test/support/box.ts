import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type ControlAnswer, askServer } from '../../src/control/client.ts';
import { freePort } from './free-port.ts';

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
/** Generous, as the machine may be busy with other things; what is measured has bounds of its own. */
const LONGEST_START_MS = 30_000;
const LONGEST_STOP_MS = 35_000;

export type Door = 'smtp' | 'submission' | 'submissions' | 'imap' | 'imaps' | 'http' | 'https' | 'dns';

export interface BoxOptions {
  /** Runs live mode under this name, on loopback all the same. */
  hostname?: string;
  /** More settings, their names without MAILSTEAD_; what is here wins. */
  settings?: Readonly<Record<string, string>>;
  /** A directory that is there already and stays; by default one is made and removed. */
  dataDir?: string;
  /** Put in front of the command, such as `['strace', '-f']`. The signals then go to that program. */
  wrapper?: readonly string[];
}

/** A line of the log; other output is not here. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

/** The appliance as a process of its own, on free ports of loopback. */
export class Box implements AsyncDisposable {
  /** Local mode's mailbox, and what is a password for it. */
  readonly address = 'me@box.test';
  readonly password = 'correct-horse-battery';
  readonly dataDir: string;
  /** What the log said, over all starts. */
  readonly log: LogLine[] = [];
  /** Every line that was printed, standard error included, over all starts. */
  readonly printed: string[] = [];
  /** From spawning the process to its ready line, at the last start. */
  startMs = 0;
  #ports: Readonly<Partial<Record<Door, number>>> = {};
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

  /** The port of a door, which stays the same over restarts. */
  port(door: Door): number {
    const port = this.#ports[door];
    if (port === undefined) throw new Error(`the box has no door ${door}`);
    return port;
  }

  get ports(): Readonly<Partial<Record<Door, number>>> {
    return this.#ports;
  }

  /** Environment for commands that talk to this box, `bin/mailstead` among them. */
  get env(): NodeJS.ProcessEnv {
    const rest = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('MAILSTEAD_') && name !== 'NODE_OPTIONS',
    );
    return { ...Object.fromEntries(rest), MAILSTEAD_DATA_DIR: this.dataDir };
  }

  /** Starts the process; resolves when it is ready, fails with what it printed when it ends before. */
  async start(): Promise<void> {
    if (this.#child !== undefined) throw new Error('the box is running already');
    const from = performance.now();
    const [program, ...args] = [...(this.#options.wrapper ?? []), COMMAND];
    const child = spawn(program, [...args, 'serve'], {
      env: { ...this.env, ...(await this.#settings()) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    // Not 'exit': the last words are read by then.
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
      LONGEST_START_MS,
    );
    if (ready === 'ended') throw new Error(`the box ended before it was ready:\n${this.printed.slice(-20).join('\n')}`);
    this.startMs = performance.now() - from;
    this.#ports = ready['listeners'] as Record<Door, number>;
  }

  /** Ends it in good order; fails when it takes too long or does not exit with 0. */
  async stop(): Promise<void> {
    const { code, signal } = await this.#end('SIGTERM');
    if (code === 0) return;
    throw new Error(`the box ended with ${code ?? signal}:\n${this.printed.slice(-20).join('\n')}`);
  }

  /** SIGKILL, as a crash does it. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Waits for an end that something else brings about, and answers how it was. */
  async ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    if (this.#ended === undefined) throw new Error('the box was never started');
    return this.#ended;
  }

  /** Starts it again on the same ports and data, ending it in good order first when it runs. */
  async restart(): Promise<void> {
    if (this.#child !== undefined) await this.stop();
    await this.start();
  }

  /** Whether the process runs. */
  get running(): boolean {
    return this.#child !== undefined;
  }

  /** Asks for an operation over the operator's socket and answers its result. */
  async ask(operation: string, input: object = {}): Promise<unknown> {
    const answer: ControlAnswer = await askServer(this.dataDir, operation, input);
    if (answer.kind !== 'done') throw new Error(`${operation}: ${answer.message}`);
    return answer.result;
  }

  /** Waits for a line of the log, also one that is there already. */
  logged(found: (line: LogLine) => boolean, what = 'a line of the log'): Promise<LogLine> {
    return this.#waitFor(() => this.log.find(found), what, LONGEST_START_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child !== undefined) await this.#end('SIGKILL');
    if (this.#options.dataDir === undefined) await rm(this.dataDir, { recursive: true, force: true });
  }

  async #settings(): Promise<Record<string, string>> {
    const { hostname } = this.#options;
    const ports: Record<string, string> = {};
    for (const door of ['smtp', 'submission', 'submissions', 'imap', 'imaps', 'http', 'https'] as const) {
      ports[`${door.toUpperCase()}_PORT`] = String(this.#ports[door] ?? (await freePort()));
    }
    const all: Record<string, string> = {
      ...ports,
      ...(hostname === undefined
        ? { LOCAL_PASSWORD: this.password }
        : { HOSTNAME: hostname, LISTEN: '127.0.0.1', ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' }),
      LOG_FORMAT: 'json',
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
      if (late.aborted) throw new Error(`waited in vain for ${what}:\n${this.printed.slice(-20).join('\n')}`);
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
    const tooLong = setTimeout(() => child.kill('SIGKILL'), LONGEST_STOP_MS);
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

/** Starts a box and waits until it is ready. In local mode `box.address` and `box.password` log in. */
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
