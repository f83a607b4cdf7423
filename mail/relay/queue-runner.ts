import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Log, Meter } from '../log.ts';
import { formatAddress } from '../message/address.ts';
import type { RelayClock } from './clock.ts';
import { ConnectionAllocator } from './connection-allocator.ts';
import { groupRows, type RecipientGroup } from './recipient-groups.ts';
import { InFlightRows } from './in-flight-rows.ts';
import { DestinationQueue } from './destination-queue.ts';
import type { RelayLimits } from './limits.ts';
import type { AttemptResult } from '../store/queue/queue.ts';
import type { BounceMessage, RelayQueue, QueueItem } from './relay-queue.ts';
import { ResultRecorder } from './result-recorder.ts';
import { jitter, nextAttempt } from './schedule.ts';
import type { GroupSender } from './group-sender.ts';
import type { RelaySession } from './session.ts';
import { retryStateAfterAttempt } from './attempt-result.ts';

export interface RelayWorkerOptions {
  queue: RelayQueue;
  sender: GroupSender;
  /** Closes all connections, and those still being opened. */
  connector: { destroy(): void };
  limits: RelayLimits;
  clock: RelayClock;
  random: () => number;
  log: Log;
  meter: Meter;
}

/** Maximum poll interval of the queue: clocks jump, and wake-ups get lost. */
const MAX_SLEEP_MS = 60_000;
const MIN_SLEEP_MS = 1000;
/** Pause after a store failure. */
const STORE_FAILURE_PAUSE_MS = 5000;
/** A delivery slower than this, ms, lowers the connection limit of its destination. */
const SLOW_DELIVERY_MS = 5000;

/**
 * Takes due rows from the queue and records a result for each. Every destination has its own queue and connections, so that a
 * dead or slow one delays only itself.
 */
export class RelayWorker {
  readonly #options: RelayWorkerOptions;
  readonly #destinations = new Map<string, DestinationQueue>();
  readonly #connections: ConnectionAllocator;
  readonly #recorder: ResultRecorder;
  readonly #inFlight = new InFlightRows();
  readonly #running = new Set<Promise<void>>();
  readonly #stopListening: () => void;
  #pulling: Promise<void> | undefined;
  #pullAgain = false;
  #cancelTimer: () => void = () => undefined;
  /** No rows are read before this time (monotonic ms), after a store failure. */
  #pausedUntil = -Infinity;
  #closing = false;

  constructor(options: RelayWorkerOptions) {
    this.#options = options;
    this.#connections = new ConnectionAllocator(options.limits.connections);
    this.#recorder = new ResultRecorder(options.queue, options.clock, options.log);
    this.#stopListening = options.queue.onChange(() => this.pull());
    this.pull();
  }

  /** Reads due rows. Calls during a read cause one more read. */
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

  /** Accepts no new rows and waits for open transactions, at most `limits.shutdown` ms; the rest is deferred. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#stopListening();
    this.#cancelTimer();
    for (const destination of this.#destinations.values()) destination.evictAll();
    const { clock, limits, connector } = this.#options;
    const cancel = clock.after(limits.shutdown, () => connector.destroy());
    await this.#pulling;
    while (this.#running.size > 0) await Promise.all(this.#running);
    cancel();
    for (const destination of this.#destinations.values()) await destination.recording;
    for (const destination of this.#destinations.values())
      for (const group of destination.ready.splice(0)) this.#returnUntried(group);
    await this.#recorder.close();
  }

  /** Reads rows until there are no more; returns the time to sleep, ms. */
  async #pull(): Promise<number> {
    const { queue, clock, log } = this.#options;
    // Also during a pause: otherwise one wake-up during it would loop forever.
    this.#pullAgain = false;
    const pause = this.#pausedUntil - clock.monotonic();
    if (pause > 0) return pause;
    try {
      do this.#pullAgain = false;
      while (await this.#round());
      const next = await queue.nextDue();
      const wait = next === undefined ? MAX_SLEEP_MS : next - clock.now();
      return Math.min(MAX_SLEEP_MS, Math.max(MIN_SLEEP_MS, wait));
    } catch (error) {
      log.error({ err: error }, 'failed to read the queue');
      return STORE_FAILURE_PAUSE_MS;
    }
  }

  /** Reads due rows of every sender once. True if a page was full and had new rows: there may be more. */
  async #round(): Promise<boolean> {
    const { queue, clock, limits } = this.#options;
    let more = false;
    let after: number | undefined;
    do {
      const dueQuery = {
        now: clock.now(),
        limit: limits.batch,
        ...this.#inFlight.exclusions(clock.monotonic()),
        after,
      };
      const { items, next } = await queue.due(dueQuery);
      const fresh = items.filter((row) => !this.#inFlight.has(row));
      this.#enqueue(fresh);
      more ||= items.length >= limits.batch && fresh.length > 0;
      after = next;
      // One read is short; many in a row would block the event loop.
      if (after !== undefined || fresh.length > 0) await yieldToEventLoop();
    } while (after !== undefined && !this.#closing);
    // Rows that could not be started would be read again and again until the store works.
    return more && !this.#closing && clock.monotonic() >= this.#pausedUntil;
  }

  #enqueue(rows: readonly QueueItem[]): void {
    const changed = new Set<DestinationQueue>();
    for (const row of rows) this.#inFlight.add(row);
    for (const group of groupRows(rows)) {
      const destination = this.#destination(destinationKey(group[0]));
      destination.waiting.push(group);
      changed.add(destination);
    }
    for (const destination of changed) this.#assignConnections(destination);
    this.#options.meter.gauge('relay_waiting', this.#inFlight.size);
  }

  #destination(name: string): DestinationQueue {
    let destination = this.#destinations.get(name);
    if (destination === undefined)
      this.#destinations.set(name, (destination = new DestinationQueue(name, this.#options.limits.perDestination)));
    return destination;
  }

  /** Opens the connections that a destination needs, as far as they are free. */
  #assignConnections(destination: DestinationQueue): void {
    destination.wakeIdle();
    while (destination.needsConnection && !this.#closing && this.#allocate(destination)) {
      destination.connections += 1;
      destination.seekingWork += 1;
      const run: Promise<void> = this.#run(destination).finally(() => {
        this.#running.delete(run);
      });
      this.#running.add(run);
    }
    this.#options.meter.gauge('relay_connections', this.#connections.allocated);
  }

  #allocate(destination: DestinationQueue): boolean {
    if (this.#connections.allocate(destination)) return true;
    // Evict an idle connection of another destination; its end assigns connections to the waiting ones.
    for (const other of this.#destinations.values()) if (other !== destination && other.evictIdle()) break;
    return false;
  }

  /** Runs one connection: sends group after group until there is no more work. `seekingWork` counts it on entry. */
  async #run(destination: DestinationQueue): Promise<void> {
    let session: RelaySession | undefined;
    const since = this.#options.clock.monotonic();
    try {
      for (
        let group = await this.#next(destination, session);
        group !== undefined;
        group = await this.#next(destination, session)
      ) {
        session = await this.#send(destination, group, session);
        const held = this.#options.clock.monotonic() - since;
        if (this.#connections.shouldYield(destination, session?.count ?? Infinity, held)) break;
        destination.seekingWork += 1;
      }
    } catch (error) {
      this.#options.log.error({ err: error, destination: destination.name }, 'failed to send (internal error)');
    }
    session?.quit();
    destination.connections -= 1;
    this.#connections.release(destination);
    for (let other = this.#connections.next(); other !== undefined; other = this.#connections.next())
      this.#assignConnections(other);
    this.#assignConnections(destination);
    if (destination.isEmpty) this.#removeDestination(destination);
  }

  #removeDestination(destination: DestinationQueue): void {
    this.#destinations.delete(destination.name);
    this.#connections.dequeue(destination);
  }

  /** Returns the next group, recorded as started, or undefined to end this connection. It is not counted in `seekingWork` then. */
  async #next(destination: DestinationQueue, session: RelaySession | undefined): Promise<RecipientGroup | undefined> {
    for (;;) {
      const group = this.#closing ? undefined : destination.ready.shift();
      if (group !== undefined || this.#closing) {
        destination.seekingWork -= 1;
        if (group !== undefined && destination.ready.length < destination.connections) void this.#begin(destination);
        return group;
      }
      if (destination.waiting.length > 0 || destination.recording !== undefined) {
        await this.#begin(destination);
      } else {
        destination.seekingWork -= 1;
        if (session?.usable !== true || this.#connections.hasWaiting()) return undefined;
        const { clock, limits } = this.#options;
        if (!(await destination.idle((end) => clock.after(limits.idle, end)))) return undefined;
      }
    }
  }

  /**
   * Records the attempts of the next groups before they are sent, so that a crash loop cannot hammer a server. A few ahead of
   * the connections, so that none waits for the disk.
   */
  #begin(destination: DestinationQueue): Promise<void> {
    if (destination.recording !== undefined) return destination.recording;
    const groups = destination.waiting.take(2 * Math.max(1, destination.connections));
    if (groups.length === 0) return Promise.resolve();
    destination.recording = this.#beginGroups(destination, groups).finally(() => {
      destination.recording = undefined;
    });
    return destination.recording;
  }

  async #beginGroups(destination: DestinationQueue, groups: readonly RecipientGroup[]): Promise<void> {
    const { queue, clock, random } = this.#options;
    const now = clock.now();
    const rows = groups.flat();
    try {
      const begun = new Set(
        await queue.begin(rows.map((row) => ({ id: row.id, nextAt: fallbackRetryTime(row, now, random) }))),
      );
      for (const row of rows) if (!begun.has(row.id)) this.#inFlight.release(row); // canceled or held meanwhile
      destination.ready.push(...groupRows(rows.filter((row) => begun.has(row.id))));
    } catch (error) {
      for (const row of rows) this.#inFlight.release(row);
      this.#pause(error);
    }
    if (this.#inFlight.markBegun(rows, clock.monotonic())) this.pull();
  }

  /** Pauses after a store failure, such as a full disk: one log line for all destinations. */
  #pause(error: unknown): void {
    const { clock, log } = this.#options;
    if (clock.monotonic() < this.#pausedUntil) return;
    this.#pausedUntil = clock.monotonic() + STORE_FAILURE_PAUSE_MS;
    log.error({ err: error }, 'failed to record delivery attempts, relay paused');
    clock.after(STORE_FAILURE_PAUSE_MS, () => this.pull());
  }

  async #send(
    destination: DestinationQueue,
    group: RecipientGroup,
    session: RelaySession | undefined,
  ): Promise<RelaySession | undefined> {
    const usable = session?.usable === true ? session : undefined;
    if (usable === undefined) session?.destroy(); // a server that sends unsolicited replies would keep it open
    const since = this.#options.clock.monotonic();
    const sent = await this.#options.sender.send(group, usable).catch((error: unknown) => {
      // The rows become due again at the time recorded with the attempt.
      for (const row of group) this.#inFlight.release(row);
      throw error;
    });
    this.#adjustLimits(destination, sent.destinationFailed, this.#options.clock.monotonic() - since > SLOW_DELIVERY_MS);
    this.#record(group, sent.results, sent.bounces);
    await this.#recorder.backpressure;
    if (sent.session === undefined || sent.session.count < this.#options.limits.messagesPerConnection)
      return sent.session;
    sent.session.quit();
    return undefined;
  }

  #adjustLimits(destination: DestinationQueue, trouble: boolean, slow: boolean): void {
    if (trouble || slow) {
      if (trouble) destination.halveLimit();
      else destination.decreaseLimit();
      this.#connections.markUnproven(destination);
      return;
    }
    destination.increaseLimit();
    this.#connections.markResponsive(destination);
    this.#assignConnections(destination);
  }

  #record(group: RecipientGroup, results: readonly AttemptResult[], bounces: readonly BounceMessage[]): void {
    const { log, meter } = this.#options;
    for (const [at, result] of results.entries()) {
      const { id: _id, ...fields } = result;
      const row = group[at];
      meter.count('relay_attempts_total', { outcome: result.outcome });
      if (row !== undefined && result.outcome !== 'deferred') {
        meter.observe('relay_queued_seconds', (result.at - row.queuedAt) / 1000, { outcome: result.outcome });
      }
      log.info({ trace: row?.trace, attempt: (row?.attempts ?? 0) + 1, ...fields }, `relay: ${result.outcome}`);
    }
    for (const bounce of bounces) meter.count('relay_reports_total', { kind: bounce.kind });
    const now = this.#options.clock.now();
    const isDueNow = results.some((result) => result.outcome === 'deferred' && result.nextAt <= now);
    const named = results.map((result, at) => ({ ...result, ...rowFacts(group[at]) }));
    this.#recorder.add(named, bounces, () => {
      for (const row of group) this.#inFlight.release(row);
      if (isDueNow) this.pull();
    });
  }

  #returnUntried(group: RecipientGroup): void {
    this.#record(group, this.#options.sender.untried(group, 'the server stopped before the attempt'), []);
  }
}

/** Facts of a row for its result; the row may be deleted meanwhile. */
function rowFacts(row: QueueItem | undefined): Pick<AttemptResult, 'trace' | 'to' | 'automatic'> | undefined {
  if (row === undefined) return undefined;
  return { trace: row.trace, to: formatAddress(row.recipient), ...(row.sender === undefined && { automatic: true }) };
}

/** Key of the rows that share connections: one destination, or one smarthost. */
function destinationKey({ domain, nextHop: way }: QueueItem): string {
  return way.via === undefined ? domain : `smarthost ${way.via}`;
}

/** Time when a row is due again if this attempt has no result. */
function fallbackRetryTime(row: QueueItem, now: number, random: () => number): number {
  const tried = retryStateAfterAttempt(row);
  return nextAttempt({ ...tried, lifetime: Infinity }, now, jitter(random)) ?? now + STORE_FAILURE_PAUSE_MS;
}
