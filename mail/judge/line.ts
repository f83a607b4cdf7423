import { JudgeAway } from './judging.ts';

interface Waiting {
  weight: number;
  go(): void;
  timer: NodeJS.Timeout;
}

/** Lets in, in order, what has room together. Whoever waits for too long is sent away. */
export class Line {
  readonly #room: number;
  readonly #patienceMs: number;
  readonly #waiting: Waiting[] = [];
  #taken = 0;

  constructor(room: number, patienceMs: number) {
    this.#room = room;
    this.#patienceMs = patienceMs;
  }

  /** Resolves when there is room; rejects with {@link JudgeAway}. Who was let in leaves with the same weight. */
  async enter(weight: number): Promise<void> {
    if (this.#waiting.length === 0 && this.#fits(weight)) {
      this.#taken += weight;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(new JudgeAway('too many messages wait to be judged'));
      }, this.#patienceMs);
      const waiting = { weight, go: resolve, timer };
      this.#waiting.push(waiting);
    });
  }

  leave(weight: number): void {
    this.#taken -= weight;
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.weight); next = this.#waiting[0]) {
      this.#waiting.shift();
      clearTimeout(next.timer);
      this.#taken += next.weight;
      next.go();
    }
  }

  /** What is too large for all of the room gets all of it. */
  #fits(weight: number): boolean {
    return this.#taken === 0 || this.#taken + weight <= this.#room;
  }
}
