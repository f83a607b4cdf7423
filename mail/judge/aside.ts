import type { Arriving, Judge, Judgement } from './judging.ts';

/**
 * Where messages are looked at one after the other, after one of them kept a thread from coming to an end. Is there while
 * it has some.
 */
export class Aside implements AsyncDisposable {
  readonly #open: () => Judge & AsyncDisposable;
  #judge: (Judge & AsyncDisposable) | undefined;
  #asked = 0;

  /** `open`: makes a judge that has one message at a time. */
  constructor(open: () => Judge & AsyncDisposable) {
    this.#open = open;
  }

  async judge(mail: Arriving): Promise<Judgement> {
    this.#judge ??= this.#open();
    this.#asked++;
    try {
      return await this.#judge.judge(mail);
    } finally {
      if (--this.#asked === 0) void this[Symbol.asyncDispose]();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const judge = this.#judge;
    this.#judge = undefined;
    await judge?.[Symbol.asyncDispose]();
  }
}
