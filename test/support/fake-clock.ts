import type { RelayClock } from '../../mail/relay/clock.ts';

/** A clock that stands still until it is turned. */
export class FakeClock implements RelayClock {
  #wall: number;
  #monotonic = 0;
  #timers: { at: number; call: () => void }[] = [];

  constructor(wall = Date.UTC(2026, 10, 21)) {
    this.#wall = wall;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(ms: number, call: () => void): () => void {
    const timer = { at: this.#monotonic + ms, call };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  /** Time goes on: what became due is called, once each, as after a process that was stopped goes on. */
  advance(ms: number): void {
    this.#wall += ms;
    this.#monotonic += ms;
    const due = this.#timers.filter((timer) => timer.at <= this.#monotonic).sort((a, b) => a.at - b.at);
    this.#timers = this.#timers.filter((timer) => timer.at > this.#monotonic);
    for (const timer of due) timer.call();
  }

  /** Somebody sets the wall clock. */
  jump(ms: number): void {
    this.#wall += ms;
  }
}
