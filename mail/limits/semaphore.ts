export interface SemaphoreOptions {
  /** Weight that is held at once. A heavier acquisition holds all of it, alone. */
  limit: number;
  /** Maximum of waiting acquisitions; left out: the caller bounds them. */
  maxWaiting?: number;
  /** Timeout of a waiting acquisition, ms; left out: it waits until admitted or aborted. */
  timeoutMs?: number;
}

/** Held until disposed of; disposal is idempotent: `using permit = await semaphore.acquire()`. */
export type Permit = Disposable;

/** Thrown when the queue is full or the timeout has passed. */
export class SemaphoreUnavailable extends Error {}

interface Waiter {
  readonly weight: number;
  readonly admit: (permit: Permit) => void;
}

/** Limits what runs at once. Acquisitions are admitted in order: a light one does not overtake a heavy one. */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  /** In order of arrival; bounded by `maxWaiting` or by the caller. */
  readonly #waiters = new Set<Waiter>();
  #held = 0;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  /** Weight that is held now. */
  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** True when an {@link acquire} of weight 1 would be rejected at once. */
  get isFull(): boolean {
    return this.#queueIsFull && (this.#waiters.size > 0 || !this.#admits(1));
  }

  /** Acquires without waiting; undefined: not now. */
  tryAcquire(weight = 1): Permit | undefined {
    return this.#waiters.size === 0 && this.#admits(weight) ? this.#hold(weight) : undefined;
  }

  /** Waits for its turn. Rejects with {@link SemaphoreUnavailable}, or with the reason of the signal. */
  async acquire(weight = 1, signal?: AbortSignal): Promise<Permit> {
    signal?.throwIfAborted();
    const permit = this.tryAcquire(weight);
    if (permit !== undefined) return permit;
    if (this.#queueIsFull) throw new SemaphoreUnavailable('too many waiting acquisitions');
    return this.#wait(weight, signal);
  }

  #wait(weight: number, signal: AbortSignal | undefined): Promise<Permit> {
    const { timeoutMs } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    const waiter = { weight, admit: resolve };
    this.#waiters.add(waiter);
    const leave = (reason: unknown): void => {
      if (!this.#waiters.delete(waiter)) return;
      reject(reason);
      // Those behind it may be lighter.
      this.#admitNext();
    };
    const aborted = (): void => leave(signal?.reason);
    const timer =
      timeoutMs && setTimeout(() => leave(new SemaphoreUnavailable(`waited for ${timeoutMs} ms`)), timeoutMs);
    signal?.addEventListener('abort', aborted, { once: true });
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', aborted);
    });
  }

  get #queueIsFull(): boolean {
    return this.#waiters.size >= (this.#options.maxWaiting ?? Infinity);
  }

  #admits(weight: number): boolean {
    return this.#held === 0 || this.#held + weight <= this.#options.limit;
  }

  #hold(weight: number): Permit {
    this.#held += weight;
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      this.#held -= weight;
      if (this.#waiters.size > 0) this.#admitNext();
    };
    return { [Symbol.dispose]: release };
  }

  #admitNext(): void {
    for (const waiter of this.#waiters) {
      if (!this.#admits(waiter.weight)) return;
      this.#waiters.delete(waiter);
      waiter.admit(this.#hold(waiter.weight));
    }
  }
}
