import type { Found, Question } from './messages.ts';

/** Who looks at one question at a time. */
interface Alone extends AsyncDisposable {
  ask(question: Question): Promise<Found>;
}

/** Where messages are looked at one after the other, after one of them was the end of a thread. Is there while it has some. */
export class Aside implements AsyncDisposable {
  readonly #open: () => Alone;
  #alone: Alone | undefined;
  #asked = 0;

  constructor(open: () => Alone) {
    this.#open = open;
  }

  async ask(question: Question): Promise<Found> {
    this.#alone ??= this.#open();
    this.#asked++;
    try {
      return await this.#alone.ask(question);
    } finally {
      if (--this.#asked === 0) void this[Symbol.asyncDispose]();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const alone = this.#alone;
    this.#alone = undefined;
    await alone?.[Symbol.asyncDispose]();
  }
}
