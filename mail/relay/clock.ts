/** Clock of the relay; tests replace it. */
export interface RelayClock {
  /** Wall clock, ms UTC. It may jump; the queue stores its times. */
  now(): number;
  /** Time by which the wall clock is ahead without confirmation, ms; messages do not age by it. Left out: 0. */
  aheadMs?(): number;
  /** Monotonic clock, ms. */
  monotonic(): number;
  /** Calls back once after `ms`; returns a function that cancels it. */
  after(ms: number, call: () => void): () => void;
}

/** System clock. Its timers do not keep the process alive. */
export const systemClock: RelayClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
