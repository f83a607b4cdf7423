import { setTimeout as delay } from 'node:timers/promises';
import type { StatementSender } from './connection.ts';
import { DedicatedConnection } from './dedicated.ts';

/** Key of the lock that the leader holds as long as its connection lasts. */
const LEADER = 7_205_759_403_795;
const INTERVAL_MS = 1_000;
/**
 * Silence after which a leader gives up, ms. PostgreSQL keeps the lock of a node that vanished for 15 s and more, so that
 * the old leader has stopped when the next one begins.
 */
const PATIENCE_MS = 5_000;

export interface ElectionOptions {
  url: string;
  /** Called when this node becomes the leader, and when it is no longer. */
  changed(leads: boolean): void;
  failed(error: unknown): void;
}

/** Takes part in the election of the node that does what must be done once. */
export class Election implements AsyncDisposable {
  readonly #options: ElectionOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #connection: DedicatedConnection | undefined;
  #leads = false;

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  get leads(): boolean {
    return this.#leads;
  }

  /** Gives the lock back, so that another node leads at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#drop();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#ask();
      } catch (error) {
        if (!this.#stop.signal.aborted) this.#options.failed(error);
        await this.#drop();
      }
      await delay(INTERVAL_MS, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
    }
  }

  /** Takes the lock, or asks whether its connection still answers. */
  async #ask(): Promise<void> {
    const connection = (this.#connection ??= await this.#connect());
    const silent = setTimeout(() => void connection.close(), PATIENCE_MS);
    try {
      await (this.#leads ? connection.sql.unsafe('SELECT 1') : this.#take(connection.sql));
    } finally {
      clearTimeout(silent);
    }
  }

  async #connect(): Promise<DedicatedConnection> {
    const connection = await DedicatedConnection.open(this.#options.url);
    connection.onClose(() => this.#set(false));
    return connection;
  }

  async #take(sql: StatementSender): Promise<void> {
    const [row] = await sql.unsafe('SELECT pg_try_advisory_lock($1::bigint)::int AS held', [LEADER]);
    if (row?.['held'] === 1 && this.#connection?.isClosed === false) this.#set(true);
  }

  async #drop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#set(false);
    await connection?.close();
  }

  #set(leads: boolean): void {
    if (leads === this.#leads) return;
    this.#leads = leads;
    this.#options.changed(leads);
  }
}
