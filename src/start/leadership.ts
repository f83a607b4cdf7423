import type { Log } from '../../mail/log.ts';
import type { StoreNodes } from '../../mail/store/nodes.ts';

/** Pause before a part is started again that could not be started, such as without the database, ms. */
const RETRY_MS = 1_000;

/** Starts a part of the server; the result stops it. */
export type StartPart = () => Promise<AsyncDisposable>;

/**
 * Runs the parts of the server that must run once: at once where it is alone, else on the node that leads, from its election
 * until another one leads.
 */
export class Leadership implements AsyncDisposable {
  readonly #nodes: StoreNodes | undefined;
  readonly #log: Log;
  readonly #parts: LedPart[] = [];

  constructor(nodes: StoreNodes | undefined, log: Log) {
    this.#nodes = nodes;
    this.#log = log;
  }

  /** Adds a part. The result stops it for good. */
  async add(start: StartPart): Promise<AsyncDisposable> {
    if (this.#nodes === undefined) return start();
    const part = new LedPart(start, this.#log);
    this.#parts.push(part);
    return part;
  }

  /** Takes part in the election, when all parts were added. */
  async begin(): Promise<void> {
    await this.#nodes?.elect((leads) => this.#parts.forEach((part) => part.set(leads)));
  }

  /** Gives the lead back when all parts have stopped: the next leader must not begin before. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#nodes?.resign();
  }
}

/** A part that is started and stopped by turns, never two of them at a time. */
class LedPart implements AsyncDisposable {
  readonly #start: StartPart;
  readonly #log: Log;
  #running: AsyncDisposable | undefined;
  #retry: NodeJS.Timeout | undefined;
  #wanted = false;
  #closed = false;
  #changing: Promise<void> = Promise.resolve();

  constructor(start: StartPart, log: Log) {
    this.#start = start;
    this.#log = log;
  }

  set(wanted: boolean): void {
    this.#wanted = wanted;
    clearTimeout(this.#retry);
    this.#changing = this.#changing.then(() => this.#change()).catch((error: unknown) => this.#failed(error));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.set(false);
    await this.#changing;
  }

  #failed(error: unknown): void {
    this.#log.error({ err: error }, 'failed to start or stop what the leader runs, will retry');
    this.#retry = setTimeout(() => this.set(this.#wanted), RETRY_MS).unref();
  }

  async #change(): Promise<void> {
    const wanted = this.#wanted && !this.#closed;
    if (wanted === (this.#running !== undefined)) return;
    if (wanted) this.#running = await this.#start();
    else {
      const running = this.#running;
      this.#running = undefined;
      await running?.[Symbol.asyncDispose]();
    }
  }
}
