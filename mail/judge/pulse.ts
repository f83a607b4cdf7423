import type { Worker } from 'node:worker_threads';

/** What a thread said of itself last: by this a loop is told from work, and from a machine that is busy with something else. */
export class Pulse {
  #heardAt = 0;
  /** What the thread had had of a processor when it last said so, ms; undefined while it has said nothing. */
  #cpu: number | undefined;

  /** It said something, or got something to do. `cpu`: what it has had of a processor, ms. */
  heard(now: number, cpu = this.#cpu): void {
    this.#heardAt = now;
    this.#cpu = cpu;
  }

  /** ms. */
  silence(now: number): number {
    return now - this.#heardAt;
  }

  /** Whether it has had so much of a processor, in ms, since it last said something. False of one that is still starting. */
  async hasSpent(worker: Worker, ms: number): Promise<boolean> {
    const [before, heardAt] = [this.#cpu, this.#heardAt];
    if (before === undefined) return false;
    const used = await worker.cpuUsage().catch(() => undefined);
    return used !== undefined && this.#heardAt === heardAt && (used.user + used.system) / 1000 - before >= ms;
  }
}
