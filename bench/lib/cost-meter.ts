import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Costs of a server since its start. */
export interface Cost {
  statements: number;
  commits: number;
  pages: number;
  /** Messages between its threads. */
  posts: number;
  /** Octets that it caused to be written to the disk. */
  written: number;
  /** CPU ms by thread: `name` for a difference, `name/id` for a reading, since a thread may end and start again. */
  cpu: Readonly<Record<string, number>>;
}

/** Quiet time after which the background work of a load is over, ms; longer than the delay of the text index. */
const QUIET_MS = 4_000;
const MAX_QUIET_MS = 30_000;

/** Reads the costs of a server that runs with cost-probe.ts. */
export class CostMeter {
  readonly #pid: number;
  readonly #file: string;

  constructor(pid: number, file: string) {
    this.#pid = pid;
    this.#file = file;
  }

  async read(): Promise<Cost> {
    rmSync(this.#file, { force: true });
    process.kill(this.#pid, 'SIGUSR2');
    while (!existsSync(this.#file)) await sleep(5);
    const counted = JSON.parse(readFileSync(this.#file, 'utf8')) as Omit<Cost, 'written' | 'cpu'>;
    return { ...counted, written: this.#written(), cpu: this.#cpu() };
  }

  /** Waits until the background work is over: nothing was written for some seconds. */
  async atRest(): Promise<Cost> {
    const until = performance.now() + MAX_QUIET_MS;
    let last = -1;
    for (let since = performance.now(); performance.now() < Math.min(since + QUIET_MS, until);) {
      const now = this.#written();
      if (now !== last) since = performance.now();
      last = now;
      await sleep(100);
    }
    return this.read();
  }

  #written(): number {
    return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${this.#pid}/io`, 'latin1'))?.[1] ?? 0);
  }

  #cpu(): Record<string, number> {
    const sums: Record<string, number> = {};
    const tasks = `/proc/${this.#pid}/task`;
    for (const task of readdirSync(tasks)) {
      try {
        const name = threadOf(Number(task) === this.#pid, readFileSync(`${tasks}/${task}/comm`, 'latin1').trim());
        const ns = Number(readFileSync(`${tasks}/${task}/schedstat`, 'latin1').split(' ')[0]);
        sums[`${name}/${task}`] = ns / 1e6;
      } catch {
        // The thread ended meanwhile.
      }
    }
    return sums;
  }
}

function threadOf(main: boolean, comm: string): string {
  return main ? 'main' : comm.replace(/^(?:libuv-worker|node-?\w*|V8Worker|DelayedTask\w*|SignalInspector)$/, 'other');
}

/** The difference of two readings, divided by `units`. */
export function costOf(before: Cost, after: Cost, units: number): Cost {
  const each = (name: keyof Omit<Cost, 'cpu'>): number => (after[name] - before[name]) / units;
  const cpu: Record<string, number> = {};
  for (const [thread, ms] of Object.entries(after.cpu)) {
    const name = thread.slice(0, thread.indexOf('/'));
    cpu[name] = (cpu[name] ?? 0) + (ms - (before.cpu[thread] ?? 0)) / units;
  }
  return {
    statements: each('statements'),
    commits: each('commits'),
    pages: each('pages'),
    posts: each('posts'),
    written: each('written'),
    cpu: Object.fromEntries(Object.entries(cpu).filter(([, ms]) => ms > 0.005)),
  };
}
