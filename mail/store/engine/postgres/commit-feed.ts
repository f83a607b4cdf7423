import type postgres from 'postgres';
import type { WakeUp } from '../types.ts';
import { LOG_CHANGES, NOTIFY_NODES, TAKE_TURN } from './batch-frame.ts';
import { loggedChanges, type NodeSignal, readChanges } from './commit-log.ts';
import { openPool } from './connection.ts';
import { ReopenedConnection } from './reopened.ts';

/** Pause between two reads without a notification, ms: one may be lost with its connection. */
const POLL_MS = 2_000;
const PURGE_MS = 60_000;
/** Age at which rows are deleted, in minutes. */
const KEEP_MINUTES = 10;
/** A node that read nothing for so long may have missed rows, ms. */
const GAP_MS = (KEEP_MINUTES * 60_000) / 2;
const MAX_ROWS = 500;
/** Repeats of a signal while the database does not answer, ms. */
const SIGNAL_RETRY_MS = 1_000;
/** Time in which rows must arrive, ms. */
const READ_LIMIT_MS = 10_000;
/** Time to store a signal, ms: it waits for the batches of other nodes. */
const SIGNAL_LIMIT_MS = 20_000;

const READ = 'SELECT number, node, changes FROM commit_log WHERE number > ? ORDER BY number LIMIT ?';
const LAST = 'SELECT coalesce(max(number), 0) AS number FROM commit_log';
const PURGE = `DELETE FROM commit_log WHERE at < clock_timestamp() - interval '${KEEP_MINUTES} minutes'`;

export interface CommitFeedOptions {
  url: string;
  /** Name of this node, whose own rows are skipped. */
  node: string;
  /** Called with the changes of other nodes, in the order of their commits; the next ones follow when it has resolved. */
  changed(wakeUps: readonly WakeUp[]): Promise<void>;
  signaled(signal: NodeSignal): void;
  /** Called when rows may be missing: everything may have changed. */
  missed(): Promise<void>;
  failed(error: unknown): void;
}

/** Follows the commits of the other nodes. Rows of the log become visible in the order of their numbers. */
export class CommitFeed implements AsyncDisposable {
  readonly #options: CommitFeedOptions;
  /** Hears the notifications only: rows that it misses are read at the next poll. */
  readonly #listener: postgres.Sql;
  readonly #rows: ReopenedConnection;
  readonly #signals: ReopenedConnection;
  readonly #stop = new AbortController();
  #last = 0;
  #readAt = performance.now();
  #purgedAt = performance.now();
  #reading: Promise<void> | undefined;
  #readAgain = false;
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: CommitFeedOptions) {
    this.#options = options;
    this.#listener = openPool(options.url, 1);
    this.#rows = new ReopenedConnection(options.url, READ_LIMIT_MS);
    this.#signals = new ReopenedConnection(options.url, SIGNAL_LIMIT_MS);
  }

  /** Begins behind the last commit. Open no view before it resolves. */
  static async open(options: CommitFeedOptions): Promise<CommitFeed> {
    const feed = new CommitFeed(options);
    try {
      const row = await feed.#rows.run((connection) => connection.get(LAST, []));
      feed.#last = Number(row?.['number']);
      // The second function is called after each new connection.
      const heard = (): void => feed.read();
      await feed.#listener.listen('mailstead_commit', (node) => node !== options.node && feed.read(), heard);
      feed.#schedule();
      return feed;
    } catch (error) {
      await feed.#close();
      throw error;
    }
  }

  /** Sends a signal to the other nodes, also after a while without the database. */
  async signal(signal: NodeSignal): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        return await this.#send(signal);
      } catch (error) {
        this.#options.failed(error);
        await new Promise((resolve) => setTimeout(resolve, SIGNAL_RETRY_MS));
      }
    }
  }

  /** Reads new rows. Calls during a read cause one more read. */
  read(): void {
    if (this.#reading !== undefined) {
      this.#readAgain = true;
      return;
    }
    this.#reading = this.#readAll()
      .catch((error: unknown) => this.#options.failed(error))
      .finally(() => {
        this.#reading = undefined;
        if (this.#readAgain && !this.#stop.signal.aborted) this.read();
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#close();
    await this.#reading;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#listener.end({ timeout: 0 }), this.#rows.close(), this.#signals.close()]);
  }

  async #send(signal: NodeSignal): Promise<void> {
    const { node } = this.#options;
    await this.#signals.run(async (connection) => {
      connection.send('BEGIN', []);
      connection.send(TAKE_TURN, []);
      connection.send(LOG_CHANGES, [node, loggedChanges({ signals: [signal] })]);
      connection.send(NOTIFY_NODES, [node]);
      connection.send('COMMIT', []);
      await connection.settle();
    });
  }

  async #readAll(): Promise<void> {
    let count = MAX_ROWS;
    while (count === MAX_ROWS && !this.#stop.signal.aborted) {
      this.#readAgain = false;
      const rows = await this.#rows.run((connection) => connection.all(READ, [this.#last, MAX_ROWS]));
      const gap = performance.now() - this.#readAt > GAP_MS;
      this.#readAt = performance.now();
      count = rows.length;
      const others = rows.filter((row) => row['node'] !== this.#options.node);
      await this.#apply(others.map((row) => readChanges(String(row['changes']))));
      if (gap) await this.#options.missed();
      this.#last = Number(rows.at(-1)?.['number'] ?? this.#last);
    }
  }

  async #apply(changes: readonly ReturnType<typeof readChanges>[]): Promise<void> {
    for (const { signals } of changes) for (const signal of signals) this.#options.signaled(signal);
    const wakeUps = changes.flatMap((one) => one.wakeUps);
    if (wakeUps.length > 0) await this.#options.changed(wakeUps);
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.read();
      void this.#purge().finally(() => {
        if (!this.#stop.signal.aborted) this.#schedule();
      });
    }, POLL_MS);
    this.#timer.unref();
  }

  async #purge(): Promise<void> {
    if (performance.now() - this.#purgedAt < PURGE_MS) return;
    this.#purgedAt = performance.now();
    await this.#rows
      .run((connection) => connection.run(PURGE, []))
      .catch((error: unknown) => this.#options.failed(error));
  }
}
