import { FairQueue } from './fair-queue.ts';
import type { RecipientGroup } from './recipient-groups.ts';

/** Queue and connection counters of one destination. Holds state only; the worker decides. */
export class DestinationQueue {
  /** Domain, or smarthost for many domains. */
  readonly name: string;
  /** Due groups that are not started. */
  readonly waiting = new FairQueue();
  /** Groups with a recorded attempt that no connection has taken yet. */
  ready: RecipientGroup[] = [];
  /** Open connections, and those being opened. */
  connections = 0;
  /** Connections that are looking for work. */
  seekingWork = 0;
  /** Current connection limit. */
  limit: number;
  /** Pending write of recorded attempts. */
  recording: Promise<void> | undefined;
  readonly #idle: ((pendingGroups: boolean) => void)[] = [];
  readonly #first: number;
  readonly #most: number;

  constructor(name: string, limits: { first: number; most: number }) {
    this.name = name;
    this.limit = limits.first;
    this.#first = limits.first;
    this.#most = limits.most;
  }

  get work(): number {
    return this.waiting.length + this.ready.length;
  }

  /** Tenant of the next group. */
  get tenant(): number {
    return this.ready[0]?.[0].tenant ?? this.waiting.tenant ?? 0;
  }

  get isEmpty(): boolean {
    return this.work === 0 && this.connections === 0 && this.recording === undefined;
  }

  /** True if there is more work than connections looking for it, below the limit. */
  get needsConnection(): boolean {
    return this.work > this.seekingWork && this.connections < this.limit;
  }

  increaseLimit(): void {
    this.limit = Math.min(this.#most, this.limit + 1);
  }

  /** Lowers the limit by one, at least to the initial one: more connections do not help a slow server. */
  decreaseLimit(): void {
    this.limit = Math.max(this.#first, this.limit - 1);
  }

  /** Halves the limit, at least to one. */
  halveLimit(): void {
    this.limit = Math.max(1, Math.floor(this.limit / 2));
  }

  /** Wakes idle connections while there is work. */
  wakeIdle(): void {
    while (this.#idle.length > 0 && this.work > this.seekingWork) this.#wake(true);
  }

  /** Ends one idle connection. False if there is none. */
  evictIdle(): boolean {
    return this.#wake(false);
  }

  evictAll(): void {
    while (this.#wake(false));
  }

  /** Waits as an idle connection. True: work; false: evicted, or timed out by `timer`, which receives the callback to end the wait. */
  idle(timer: (end: () => void) => () => void): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const leave = (work: boolean): void => {
      cancel();
      if (work) this.seekingWork += 1;
      resolve(work);
    };
    const cancel = timer(() => {
      const at = this.#idle.indexOf(leave);
      if (at >= 0) this.#idle.splice(at, 1);
      leave(false);
    });
    this.#idle.push(leave);
    return promise;
  }

  #wake(work: boolean): boolean {
    const leave = this.#idle.pop();
    leave?.(work);
    return leave !== undefined;
  }
}
