import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Box, ListenerName } from './box.ts';
import { residentOctets } from './faults.ts';
import { allowed, besideBusyProcesses } from './held-sockets.ts';

/** One connection of a fuzz run: what brings it into its state, and then everything at once. */
export interface FuzzSession {
  port: number;
  tls: boolean;
  /** Sent one after the other, each when the answer to the one before is there; '' waits for the banner. */
  steps: readonly { send: string; until: RegExp }[];
  /** Sent in pieces, without waiting for anything; then our side ends, or waits until the server says goodbye. */
  rest: readonly Buffer[];
  /** Sent whenever the server has been waiting for more: fills what was announced and asks for the goodbye. */
  fill?: Buffer;
}

/**
 * Plays a session; answers everything that the server said, as latin1. Fails when the server leaves it hanging. `reset`:
 * the server closed with a reset, which takes away what was not read before.
 */
export async function playSession({
  port,
  tls,
  steps,
  rest,
  fill,
}: FuzzSession): Promise<{ before: string; after: string; reset: boolean }> {
  const at = { host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true };
  const socket: Socket = tls ? connectTls({ ...at, rejectUnauthorized: false }) : connect(at);
  let text = '';
  const end = new AbortController();
  let wake = (): void => {};
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    wake();
  });
  let reset = false;
  socket.on('error', ({ code }: NodeJS.ErrnoException) => (reset ||= code === 'ECONNRESET' || code === 'EPIPE'));
  for (const event of ['end', 'close', 'error']) {
    socket.on(event, () => {
      end.abort();
      wake();
    });
  }
  const late = setTimeout(() => socket.destroy(new Error('late')), LONGEST_SESSION_MS);
  let filler: NodeJS.Timeout | undefined;
  const overdue = performance.now() + LONGEST_SESSION_MS;
  const until = async (done: () => boolean): Promise<void> => {
    while (!done() && !end.signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
  };
  try {
    for (const step of steps) {
      const from = text.length;
      if (step.send !== '') socket.write(step.send, 'latin1');
      await until(() => step.until.test(text.slice(from)));
    }
    const before = text.length;
    for (const piece of rest) socket.write(piece);
    if (fill === undefined) socket.end();
    else filler = setInterval(() => socket.writableLength === 0 && socket.write(fill), FILL_EVERY_MS);
    await until(() => false);
    if (performance.now() > overdue) throw new Error(`the server did not end: ${text.slice(-500)}`);
    return { before: text.slice(0, before), after: text.slice(before), reset };
  } finally {
    clearTimeout(late);
    clearInterval(filler);
    socket.destroy();
  }
}

const LONGEST_SESSION_MS = 30_000;
const FILL_EVERY_MS = 30;
const MOST_MORE = 150 * 2 ** 20;
/** Longest wait of a good client, ms, beside what a busy machine adds. */
const LONGEST_WAIT_MS = 2_000;
/** Measurement of the waits beside busy processes, ms. */
const ORDINARY_MS = 3_000;

export interface FuzzOptions {
  lines: number;
  lanes: number;
  /** Runs one session, checks its result and returns the number of its lines that were answered. */
  next(): Promise<number>;
  /** Requests of good clients during the run, beside a line of SMTP and of IMAP. */
  canaries?: readonly (() => Promise<void>)[];
  /** Octets that the server may have grown by. */
  mostMore?: number;
  /** Share of the lines that come first, before its memory is measured: until a heap has found its size. */
  warmUp?: number;
}

/** Runs sessions, `lanes` at a time, until `lines` lines are answered. */
export async function fuzzRun(box: Box, options: FuzzOptions): Promise<string> {
  const pid = box.pid;
  let lines = 0;
  const lane = async (most: number): Promise<void> => {
    while (lines < most) {
      const done = await options.next();
      lines += done;
    }
  };
  const run = (most: number): Promise<unknown> => Promise.all(Array.from({ length: options.lanes }, () => lane(most)));
  // Allocates the one-time memory of the server first, so that memory kept from every session shows.
  const { warmUp = 0.1 } = options;
  await run(options.lines * warmUp);
  const baseline = await residentOctets(pid);
  const canaries = options.canaries ?? [];
  const ordinary = await besideBusyProcesses(async () => {
    const canary = new Canary(box, canaries);
    await delay(ORDINARY_MS);
    return canary.stop();
  });
  const canary = new Canary(box, canaries);
  await run(options.lines * (1 + warmUp));
  const longest = await canary.stop();
  expect(longest, `ms that a good client waited; ${ordinary} ms beside busy processes`).toBeLessThan(
    allowed(LONGEST_WAIT_MS, ordinary),
  );
  expect(box.running, 'the server ended').toBe(true);
  expect(box.pid).toBe(pid);
  const more = (await residentOctets(pid)) - baseline;
  expect(more).toBeLessThan(options.mostMore ?? MOST_MORE);
  expect(box.log.filter((line) => line['level'] === 'error')).toEqual([]);
  expect(box.printed.filter((line) => /unhandled|uncaught|SERVERBUG/i.test(line))).toEqual([]);
  return `${Math.round(lines)} lines, ${Math.round(more / 2 ** 20)} MiB more, canary ${canary.told()}`;
}

/** Asks as a good client would, ten times a second, and measures how soon it is served. */
class Canary {
  readonly #box: Box;
  readonly #more: readonly (() => Promise<void>)[];
  readonly #waits: number[] = [];
  readonly #done: Promise<void>;
  #stopped = false;

  constructor(box: Box, more: readonly (() => Promise<void>)[]) {
    this.#box = box;
    this.#more = more;
    this.#done = this.#sing();
  }

  /** Returns the longest wait, ms. */
  async stop(): Promise<number> {
    this.#stopped = true;
    await this.#done;
    return Math.max(...this.#waits);
  }

  told(): string {
    const sorted = this.#waits.toSorted((a, b) => a - b);
    const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
    return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`;
  }

  async #sing(): Promise<void> {
    while (!this.#stopped) {
      await Promise.all([
        this.#ask('smtp', [
          { send: '', until: /^220 .*\r\n/ },
          { send: 'NOOP\r\n', until: /^250 .*\r\n/ },
        ]),
        this.#ask('imap', [
          { send: '', until: /^\* OK .*\r\n/ },
          { send: 'a NOOP\r\n', until: /^a OK .*\r\n/m },
        ]),
        ...this.#more.map((one) => this.#timed(one)),
        delay(100),
      ]);
    }
  }

  async #ask(door: ListenerName, steps: FuzzSession['steps']): Promise<void> {
    await this.#timed(async () => {
      const { before } = await playSession({ port: this.#box.port(door), tls: false, steps, rest: [] });
      expect(before).toMatch(/^(?:220 [^]*250 |\* OK [^]*a OK )/);
    });
  }

  async #timed(ask: () => Promise<void>): Promise<void> {
    const from = performance.now();
    await ask();
    this.#waits.push(performance.now() - from);
  }
}

/** Cuts octets at random places, as a network may. */
export function pieces(octets: Buffer, random: (below: number) => number): Buffer[] {
  const cuts = Array.from({ length: random(4) }, () => random(octets.length + 1)).sort((a, b) => a - b);
  return [0, ...cuts]
    .map((from, i) => octets.subarray(from, cuts[i] ?? octets.length))
    .filter((piece) => piece.length > 0);
}
