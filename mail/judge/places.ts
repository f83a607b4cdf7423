import { Line } from './line.ts';
import type { Question } from './messages.ts';

/** Octets of messages in the thread at once: what is made of one for the checks has up to three times its size. */
const ROOM = 48 * 1024 * 1024;
/** What the smallest message counts in octets. */
const LEAST = 64 * 1024;
/** Larger ones have a line of their own, for they take seconds, and few are in the thread at once. */
const LARGE = 1024 * 1024;
const MOST_LARGE = 8;
/** Who stands in line for so long comes again; servers wait ten minutes (RFC 5321 4.5.3.2.6). */
const LINE_MS = 120_000;

/** How much is in the judge's thread at once; the rest stands in line. */
export class Places {
  readonly #alone: boolean;
  readonly #line = new Line(ROOM, LINE_MS);
  readonly #largeLine = new Line(MOST_LARGE, LINE_MS);

  /** `alone`: one question at a time, whatever its size. */
  constructor(alone: boolean) {
    this.#alone = alone;
  }

  /** Waits for a place, and answers how to leave it. Rejects with JudgeAway. */
  async take(question: Question): Promise<() => void> {
    const [line, weight] = this.#placeOf(question);
    await line?.enter(weight);
    return () => line?.leave(weight);
  }

  /** Lessons come one after the other by themselves. */
  #placeOf(question: Question): [line: Line | undefined, weight: number] {
    if (this.#alone) return [this.#line, ROOM];
    if (question.kind === 'words') return [undefined, 0];
    const { size } = question.mail;
    return size > LARGE ? [this.#largeLine, 1] : [this.#line, Math.max(LEAST, size)];
  }
}
