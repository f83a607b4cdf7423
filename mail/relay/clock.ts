/** Time as the relay sees it, so that tests can turn it. */
export interface Clock {
  /** Wall clock, ms UTC. It may jump; what the queue remembers is written in it. */
  now(): number;
  /** Milliseconds since some moment; never jumps. */
  monotonic(): number;
  /** Calls back once after so many ms, and answers how to take that back. */
  after(ms: number, call: () => void): () => void;
}

/** The clock of the machine. Its timers keep no process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
