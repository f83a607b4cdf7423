import { Line } from './line.ts';
import type { Question } from './messages.ts';

/** Weight of the messages in the thread at once. For each unit up to three octets are held while name servers are asked. */
const ROOM = 48 * 1024 * 1024;
/** What the smallest message weighs. */
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
    const { size, headerLength } = question.mail;
    if (size > LARGE) return [this.#largeLine, 1];
    // A text of another alphabet, with its links, takes six times its octets, and short header fields seventeen times.
    return [this.#line, Math.max(LEAST, 2 * size + 4 * headerLength)];
  }
}
