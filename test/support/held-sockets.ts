import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { availableParallelism } from 'node:os';

/** A connection that is held open, and what became of it. Times in ms of performance.now(). */
export interface Held {
  readonly socket: Socket;
  readonly openedAt: number;
  /** Output of the server so far, at most 200 octets. */
  said: string;
  saidAt: number | undefined;
  closedAt: number | undefined;
  /** Resolves when it is closed. */
  readonly closed: Promise<void>;
}

/** Opens a connection and holds it, reading what comes. Resolves when it is open or has failed. */
export async function hold(from: string, port: number): Promise<Held> {
  const socket = connect({ host: '127.0.0.1', port, localAddress: from });
  const end = Promise.withResolvers<void>();
  const held: Held = {
    socket,
    openedAt: performance.now(),
    said: '',
    saidAt: undefined,
    closedAt: undefined,
    closed: end.promise,
  };
  socket.on('data', (chunk: Buffer) => {
    held.saidAt ??= performance.now();
    if (held.said.length < 200) held.said += chunk.toString('latin1');
  });
  await new Promise<void>((resolve) => {
    socket.once('connect', resolve);
    socket.on('error', () => resolve());
    socket.on('close', () => {
      held.closedAt = performance.now();
      end.resolve();
      resolve();
    });
  });
  return held;
}

/** Opens many, some at a time. */
export async function holdMany(
  count: number,
  one: (i: number) => { from: string; port: number },
  atOnce = 50,
): Promise<Held[]> {
  const all: Held[] = [];
  for (let i = 0; i < count; i += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - i) }, (_, k) => one(i + k));
    all.push(...(await Promise.all(some.map(({ from, port }) => hold(from, port)))));
  }
  return all;
}

export async function letGo(all: readonly Held[]): Promise<void> {
  for (const { socket } of all) socket.destroy();
  await Promise.all(all.map(({ closed }) => closed));
}

/** The value that a part of all is below. */
export function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;
}

/** Runs `work` beside processes that do nothing but use a processor, one more than there are processors. */
export async function besideBusyProcesses<T>(work: () => Promise<T>): Promise<T> {
  const all = Array.from({ length: availableParallelism() + 1 }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  const ended = all.map((one) => once(one, 'exit'));
  try {
    await Promise.all(all.map((one) => once(one, 'spawn')));
    return await work();
  } finally {
    for (const one of all) one.kill('SIGKILL');
    await Promise.all(ended);
  }
}

/**
 * Returns the longest wait that passes where `ordinary` is the wait beside busy processes (both p99, ms): the figure, and
 * the delay that a busy machine adds by itself.
 */
export function allowed(figure: number, ordinary: number): number {
  return figure + 3 * ordinary;
}

/** Repeats `round` until its waits pass, three times at most: other load only adds, and a defect comes each time. */
export async function roundsUntil<T>(round: () => Promise<T>, passes: (one: T) => boolean): Promise<T> {
  let one = await round();
  for (let n = 1; n < 3 && !passes(one); n++) one = await round();
  return one;
}
