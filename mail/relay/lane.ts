import { FairQueue } from './fair-queue.ts';
import type { Group } from './groups.ts';

/** What one destination has to do and is doing. It only counts and hands out; the worker decides. */
export class Lane {
  /** The domain, or the smarthost that takes mail for many. */
  readonly name: string;
  /** Due and not begun. */
  readonly waiting = new FairQueue();
  /** Begun, recorded as an attempt, and not yet taken by a connection. */
  ready: Group[] = [];
  /** Connections that are open or being opened. */
  connections = 0;
  /** Connections that look for something to send. */
  hungry = 0;
  /** How many connections it may have now. */
  limit: number;
  /** The recording of attempts that is under way. */
  beginning: Promise<void> | undefined;
  readonly #idle: ((work: boolean) => void)[] = [];
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

  /** Whose mail it would send next. */
  get tenant(): number {
    return this.ready[0]?.[0].tenant ?? this.waiting.tenant ?? 0;
  }

  get empty(): boolean {
    return this.work === 0 && this.connections === 0 && this.beginning === undefined;
  }

  /** More work than connections that are about to take it, and room for one more connection. */
  get wants(): boolean {
    return this.work > this.hungry && this.connections < this.limit;
  }

  grow(): void {
    this.limit = Math.min(this.#most, this.limit + 1);
  }

  /** One less, down to what it began with: more connections to a server that is slow only hold more places. */
  slacken(): void {
    this.limit = Math.max(this.#first, this.limit - 1);
  }

  /** Half as many, but one: it goes on being tried. */
  shrink(): void {
    this.limit = Math.max(1, Math.floor(this.limit / 2));
  }

  /** Gives idle connections what there is to do. */
  wakeIdle(): void {
    while (this.#idle.length > 0 && this.work > this.hungry) this.#wake(true);
  }

  /** Takes one idle connection away. False when there is none. */
  evictIdle(): boolean {
    return this.#wake(false);
  }

  evictAll(): void {
    while (this.#wake(false));
  }

  /** Waits as an idle connection: true for work, false for an eviction or the end of `timer`, which is told how to end it. */
  idle(timer: (end: () => void) => () => void): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const leave = (work: boolean): void => {
      cancel();
      if (work) this.hungry += 1;
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
