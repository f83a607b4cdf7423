import type { StoreNodes } from '../../mail/store/nodes.ts';

/** Starts a part of the server; the result stops it. */
export type StartPart = () => Promise<AsyncDisposable>;

/**
 * Runs the parts of the server that must run once: at once where it is alone, else on the node that leads, from its election
 * until another one leads.
 */
export class Leadership implements AsyncDisposable {
  readonly #nodes: StoreNodes | undefined;
  readonly #fatal: (error: Error) => void;
  readonly #parts: LedPart[] = [];

  /** `fatal`: called when a part cannot be started. */
  constructor(nodes: StoreNodes | undefined, fatal: (error: Error) => void) {
    this.#nodes = nodes;
    this.#fatal = fatal;
  }

  /** Adds a part. The result stops it for good. */
  async add(start: StartPart): Promise<AsyncDisposable> {
    if (this.#nodes === undefined) return start();
    const part = new LedPart(start, this.#fatal);
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
  readonly #fatal: (error: Error) => void;
  #running: AsyncDisposable | undefined;
  #wanted = false;
  #closed = false;
  #changing: Promise<void> = Promise.resolve();

  constructor(start: StartPart, fatal: (error: Error) => void) {
    this.#start = start;
    this.#fatal = fatal;
  }

  set(wanted: boolean): void {
    this.#wanted = wanted;
    this.#changing = this.#changing.then(() => this.#change()).catch((error: unknown) => this.#fatal(error as Error));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.set(false);
    await this.#changing;
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
