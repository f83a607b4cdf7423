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
  /** Those that had their last message: who closes the judge closes the database next. */
  #ending: Promise<unknown> = Promise.resolve();

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
    this.#ending = Promise.all([this.#ending, alone?.[Symbol.asyncDispose]()]);
    await this.#ending;
  }
}
