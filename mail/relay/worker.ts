import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log, Meter } from '../log.ts';
import { formatAddress } from '../message/address.ts';
import type { Clock } from './clock.ts';
import { groupRows, type Group } from './groups.ts';
import { Holdings } from './holdings.ts';
import { Lane } from './lane.ts';
import type { RelayLimits } from './limits.ts';
import type { AttemptResult, BounceMessage, Queue, QueueItem } from './needs.ts';
import { Places } from './places.ts';
import { Recorder } from './recorder.ts';
import { jitter, nextAttempt } from './schedule.ts';
import type { Sender } from './sender.ts';
import type { Session } from './session.ts';
import { triedWith } from './settle.ts';

export interface WorkerOptions {
  queue: Queue;
  sender: Sender;
  /** Ends every connection, also those still to come. */
  connector: { destroy(): void };
  limits: RelayLimits;
  clock: Clock;
  random: () => number;
  log: Log;
  meter: Meter;
}

/** The queue is looked at this often even when nothing says that rows are due: clocks jump, wake-ups get lost. */
const LONGEST_SLEEP = 60_000;
const SHORTEST_SLEEP = 1000;
/** After the store has failed. */
const PAUSE = 5000;
/** A message that took longer, ms, speaks against more connections to where it went. */
const SLOW = 5000;

/**
 * Takes due rows from the queue and sees each to a recorded result. Every destination is a lane with connections of its
 * own, so that one which is dead or slow only ever holds up itself.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #places: Places;
  readonly #recorder: Recorder;
  readonly #holdings = new Holdings();
  readonly #running = new Set<Promise<void>>();
  readonly #stopListening: () => void;
  #pulling: Promise<void> | undefined;
  #pullAgain = false;
  #cancelTimer: () => void = () => undefined;
  /** Nothing is taken before this moment (monotonic ms): the store has just failed. */
  #pausedUntil = -Infinity;
  #closing = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#places = new Places(options.limits.connections);
    this.#recorder = new Recorder(options.queue, options.clock, options.log);
    this.#stopListening = options.queue.onChange(() => this.pull());
    this.pull();
  }

  /** Looks for due rows. Calls that come while it looks are one more look. */
  pull(): void {
    if (this.#closing) return;
    if (this.#pulling !== undefined) {
      this.#pullAgain = true;
      return;
    }
    this.#cancelTimer();
    this.#pulling = this.#pull().then((sleep) => {
      this.#pulling = undefined;
      if (this.#closing) return;
      if (this.#pullAgain) return this.pull();
      this.#cancelTimer = this.#options.clock.after(sleep, () => this.pull());
    });
  }

  /** Takes on nothing new and waits for what is on the wire, at most `limits.closing` ms; what is left is "later". */
  async close(): Promise<void> {
    this.#closing = true;
    this.#stopListening();
    this.#cancelTimer();
    for (const lane of this.#lanes.values()) lane.evictAll();
    const { clock, limits, connector } = this.#options;
    const cancel = clock.after(limits.closing, () => connector.destroy());
    await this.#pulling;
    while (this.#running.size > 0) await Promise.all(this.#running);
    cancel();
    for (const lane of this.#lanes.values()) await lane.beginning;
    for (const lane of this.#lanes.values()) for (const group of lane.ready.splice(0)) this.#giveBack(group);
    await this.#recorder.close();
  }

  /** Takes rows until there are no more, and answers how long to sleep then, ms. */
  async #pull(): Promise<number> {
    const { queue, clock, log } = this.#options;
    // Also when nothing more can be taken: or one wake-up that came meanwhile would be answered for ever, in one turn.
    this.#pullAgain = false;
    const pause = this.#pausedUntil - clock.monotonic();
    if (pause > 0) return pause;
    try {
      do this.#pullAgain = false;
      while (await this.#round());
      const next = await queue.nextDue();
      const wait = next === undefined ? LONGEST_SLEEP : next - clock.now();
      return Math.min(LONGEST_SLEEP, Math.max(SHORTEST_SLEEP, wait));
    } catch (error) {
      log.error({ err: error }, 'the queue could not be read');
      return PAUSE;
    }
  }

  /** Looks once at every sender. True when a look was full and something of it was new: there may be more behind it. */
  async #round(): Promise<boolean> {
    const { queue, clock, limits } = this.#options;
    let more = false;
    let after: number | undefined;
    do {
      const look = { now: clock.now(), limit: limits.batch, ...this.#holdings.left(clock.monotonic()), after };
      const { items, next } = await queue.due(look);
      const fresh = items.filter((row) => !this.#holdings.has(row));
      this.#takeOn(fresh);
      more ||= items.length >= limits.batch && fresh.length > 0;
      after = next;
      // A look is short; many of them one after the other would not be.
      if (after !== undefined || fresh.length > 0) await nextTurn();
    } while (after !== undefined && !this.#closing);
    // What could not be begun would be found again and again until the store takes attempts.
    return more && !this.#closing && clock.monotonic() >= this.#pausedUntil;
  }

  #takeOn(rows: readonly QueueItem[]): void {
    const touched = new Set<Lane>();
    for (const row of rows) this.#holdings.take(row);
    for (const group of groupRows(rows)) {
      const lane = this.#lane(laneName(group[0]));
      lane.waiting.push(group);
      touched.add(lane);
    }
    for (const lane of touched) this.#staff(lane);
    this.#options.meter.gauge('relay_waiting', this.#holdings.size);
  }

  #lane(name: string): Lane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) this.#lanes.set(name, (lane = new Lane(name, this.#options.limits.perDestination)));
    return lane;
  }

  /** Gives a lane the connections that its work asks for, as far as there are places. */
  #staff(lane: Lane): void {
    lane.wakeIdle();
    while (lane.wants && !this.#closing && this.#place(lane)) {
      lane.connections += 1;
      lane.hungry += 1;
      const run: Promise<void> = this.#run(lane).finally(() => {
        this.#running.delete(run);
      });
      this.#running.add(run);
    }
    this.#options.meter.gauge('relay_connections', this.#places.taken);
  }

  #place(lane: Lane): boolean {
    if (this.#places.take(lane)) return true;
    // The place of an idle connection comes free at once; its end staffs the lanes that wait.
    for (const other of this.#lanes.values()) if (other !== lane && other.evictIdle()) break;
    return false;
  }

  /** One connection's life: group after group until there is nothing more to do. `hungry` counts it on entry. */
  async #run(lane: Lane): Promise<void> {
    let session: Session | undefined;
    const since = this.#options.clock.monotonic();
    try {
      for (let group = await this.#next(lane, session); group !== undefined; group = await this.#next(lane, session)) {
        session = await this.#send(lane, group, session);
        const held = this.#options.clock.monotonic() - since;
        if (this.#places.shouldYield(lane, session?.count ?? Infinity, held)) break;
        lane.hungry += 1;
      }
    } catch (error) {
      this.#options.log.error({ err: error, destination: lane.name }, 'sending failed for a reason of our own');
    }
    session?.quit();
    lane.connections -= 1;
    this.#places.give(lane);
    for (let other = this.#places.next(); other !== undefined; other = this.#places.next()) this.#staff(other);
    this.#staff(lane);
    if (lane.empty) this.#forget(lane);
  }

  #forget(lane: Lane): void {
    this.#lanes.delete(lane.name);
    this.#places.forget(lane);
  }

  /** The next group to send, recorded as begun, or undefined when this connection is to end. It is hungry no longer then. */
  async #next(lane: Lane, session: Session | undefined): Promise<Group | undefined> {
    for (;;) {
      const group = this.#closing ? undefined : lane.ready.shift();
      if (group !== undefined || this.#closing) {
        lane.hungry -= 1;
        if (group !== undefined && lane.ready.length < lane.connections) void this.#begin(lane);
        return group;
      }
      if (lane.waiting.length > 0 || lane.beginning !== undefined) {
        await this.#begin(lane);
      } else {
        lane.hungry -= 1;
        if (session?.usable !== true || this.#places.areWanted()) return undefined;
        const { clock, limits } = this.#options;
        if (!(await lane.idle((end) => clock.after(limits.idle, end)))) return undefined;
      }
    }
  }

  /**
   * Records the attempts of the next groups before any of them is dialed, so that a crash cannot hammer a server. A few
   * ahead of the connections, so that none of them waits for the disk.
   */
  #begin(lane: Lane): Promise<void> {
    if (lane.beginning !== undefined) return lane.beginning;
    const groups = lane.waiting.take(2 * Math.max(1, lane.connections));
    if (groups.length === 0) return Promise.resolve();
    lane.beginning = this.#beginGroups(lane, groups).finally(() => {
      lane.beginning = undefined;
    });
    return lane.beginning;
  }

  async #beginGroups(lane: Lane, groups: readonly Group[]): Promise<void> {
    const { queue, clock, random } = this.#options;
    const now = clock.now();
    const rows = groups.flat();
    try {
      const begun = new Set(await queue.begin(rows.map((row) => ({ id: row.id, nextAt: retryAt(row, now, random) }))));
      for (const row of rows) if (!begun.has(row.id)) this.#holdings.release(row); // canceled or held meanwhile
      lane.ready.push(...groupRows(rows.filter((row) => begun.has(row.id))));
    } catch (error) {
      for (const row of rows) this.#holdings.release(row);
      this.#pause(error);
    }
    if (this.#holdings.begun(rows, clock.monotonic())) this.pull();
  }

  /** A full disk refuses every destination alike: one line tells of it, and the next look is a while away. */
  #pause(error: unknown): void {
    const { clock, log } = this.#options;
    if (clock.monotonic() < this.#pausedUntil) return;
    this.#pausedUntil = clock.monotonic() + PAUSE;
    log.error({ err: error }, 'attempts could not be recorded, so none is made');
    clock.after(PAUSE, () => this.pull());
  }

  async #send(lane: Lane, group: Group, session: Session | undefined): Promise<Session | undefined> {
    const usable = session?.usable === true ? session : undefined;
    if (usable === undefined) session?.destroy(); // one that talks unasked would stay open for as long as it likes
    const since = this.#options.clock.monotonic();
    const sent = await this.#options.sender.send(group, usable).catch((error: unknown) => {
      // They come back at the time that they were begun with.
      for (const row of group) this.#holdings.release(row);
      throw error;
    });
    this.#learn(lane, sent.trouble, this.#options.clock.monotonic() - since > SLOW);
    this.#record(group, sent.results, sent.bounces);
    await this.#recorder.crowded;
    if (sent.session === undefined || sent.session.count < this.#options.limits.messagesPerConnection)
      return sent.session;
    sent.session.quit();
    return undefined;
  }

  #learn(lane: Lane, trouble: boolean, slow: boolean): void {
    if (trouble || slow) {
      if (trouble) lane.shrink();
      else lane.slacken();
      this.#places.disprove(lane);
      return;
    }
    lane.grow();
    this.#places.prove(lane);
    this.#staff(lane);
  }

  #record(group: Group, results: readonly AttemptResult[], bounces: readonly BounceMessage[]): void {
    const { log, meter } = this.#options;
    for (const [at, result] of results.entries()) {
      const { id: _id, ...said } = result;
      const row = group[at];
      meter.count('relay_attempts_total', { outcome: result.outcome });
      if (row !== undefined && result.outcome !== 'deferred') {
        meter.observe('relay_queued_seconds', (result.at - row.queuedAt) / 1000, { outcome: result.outcome });
      }
      log.info({ trace: row?.trace, attempt: (row?.attempts ?? 0) + 1, ...said }, `relay: ${result.outcome}`);
    }
    for (const bounce of bounces) meter.count('relay_reports_total', { kind: bounce.kind });
    const now = this.#options.clock.now();
    const atOnce = results.some((result) => result.outcome === 'deferred' && result.nextAt <= now);
    const named = results.map((result, at) => ({ ...result, ...namesOf(group[at]) }));
    this.#recorder.add(named, bounces, () => {
      for (const row of group) this.#holdings.release(row);
      if (atOnce) this.pull();
    });
  }

  #giveBack(group: Group): void {
    this.#record(group, this.#options.sender.untried(group, 'this server was stopped before it could try'), []);
  }
}

/** Whose result it is, also when the row was cancelled meanwhile. */
function namesOf(row: QueueItem | undefined): { trace: string; to: string } | undefined {
  return row && { trace: row.trace, to: formatAddress(row.recipient) };
}

/** What shares connections: one destination, or all that leaves by one smarthost. */
function laneName({ domain, way }: QueueItem): string {
  return way.via === undefined ? domain : `smarthost ${way.via}`;
}

/** When a row is due if this attempt never reports back. */
function retryAt(row: QueueItem, now: number, random: () => number): number {
  const tried = triedWith(row);
  return nextAttempt({ ...tried, lifetime: Infinity }, now, jitter(random)) ?? now + PAUSE;
}
