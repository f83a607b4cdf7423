import { setImmediate as turn } from 'node:timers/promises';
import { JudgeAway } from '../judge/judging.ts';
import type { Log } from '../log.ts';
import { JUNK_FROM } from '../policy/finding.ts';
import { likelihood } from '../policy/words/likelihood.ts';
import { scoreOf } from '../policy/words/words-finding.ts';
import { blobBytes } from '../store/content.ts';
import { StoreBusy } from '../store/engine/types.ts';
import { dropLessons, type Lesson, nextLessons, type Says } from '../store/lesson.ts';
import type { LessonSource } from '../store/lesson-words.ts';
import type { MailStore } from '../store/store.ts';
import { type KnownWords, knownWords, learn, learnedOf } from '../store/words.ts';

const EVERY_MS = 3_000;
/** Lessons of one account before the next one has its turn. */
const TOGETHER = 25;
/** From so many messages of either kind on, one that is judged rightly without a doubt teaches nothing. */
const WELL_TAUGHT = 200;
const WITHOUT_DOUBT = 0.02;

export interface LearnerOptions {
  store: MailStore;
  log: Log;
  /** The words of a message, read in a thread that may wait. */
  wordsOf: (source: LessonSource) => Promise<readonly number[]>;
}

/** Learns what accounts said of their mail. A lesson is a row, and goes in the commit that learns it. */
export class Learner implements AsyncDisposable {
  readonly #options: LearnerOptions;
  #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #closing = false;
  /** Lessons that failed once: a thread that ends takes what it had with it, whoever's fault that was. */
  readonly #failed = new Set<number>();

  constructor(options: LearnerOptions) {
    this.#options = options;
    this.#timer = this.#later();
  }

  /** Everything that waits now, some lessons of each account in turn. */
  async run(): Promise<void> {
    const { store } = this.#options;
    for (let after = 0, any = true; !this.#closing;) {
      const next = await store.read(nextLessons, { after, limit: TOGETHER });
      if (next === undefined && !any) return;
      any = next !== undefined;
      after = next?.account ?? 0;
      if (next === undefined) continue;
      const { account, lessons, gone } = next;
      const nothing = gone.map((email) => ({ email, says: null }));
      if (gone.length > 0) await store.writeSlice(dropLessons, { account, lessons: nothing });
      for (const lesson of lessons) if (!this.#closing) await this.#take(account, lesson);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  /** One that cannot be learned, twice, must not keep back those behind it. */
  async #take(account: number, lesson: Lesson): Promise<void> {
    const { store, log } = this.#options;
    const { email, says } = lesson;
    try {
      const words = await this.#words(lesson);
      const known = await store.read(knownWords, { account, words });
      const before = await store.read(learnedOf, { email });
      if (teaches(says, before, known)) await store.writeSlice(learn, { account, email, says, words });
      else await store.writeSlice(dropLessons, { account, lessons: [{ email, says }] });
      this.#failed.delete(email);
    } catch (error) {
      // Nothing can be learned now, of any message.
      if (error instanceof StoreBusy || error instanceof JudgeAway) throw error;
      if (!this.#failed.delete(email)) return void this.#failed.add(email);
      log.error({ err: error, account }, 'nothing could be learned from a message');
      await store.writeSlice(dropLessons, { account, lessons: [{ email, says, unread: true }] });
    }
    // Thousands of them are nothing to hurry with: whoever waits for this thread comes first.
    await turn();
  }

  async #words({ blob, size, headerLength, parts, forged }: Lesson): Promise<readonly number[]> {
    const { store, wordsOf } = this.#options;
    const found = await store.read(blobBytes, { blob, start: 0, length: size });
    if (found === undefined) throw new Error(`blob ${blob} does not exist`);
    const octets = 'file' in found ? store.files.path(found.file) : found.data;
    return wordsOf({ octets, headerLength, parts, forged: forged === 1 });
  }

  #later(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#round = this.run()
        .catch((error: unknown) => this.#options.log.error({ err: error }, 'what people say of their mail waits'))
        .finally(() => {
          if (!this.#closing) this.#timer = this.#later();
        });
    }, EVERY_MS).unref();
  }
}

/**
 * Whether there is something to learn. A change of mind always is; what is judged rightly without a doubt is not, so that
 * neither ten thousand messages moved at once nor mail that is merely kept make the memory grow, or sure of itself.
 */
export function teaches(says: Says, before: Says | undefined, known: KnownWords): boolean {
  if (before !== undefined) return before !== says && says !== 'kept';
  const { junk } = likelihood(known);
  // Nobody said that it is good: what looks like junk may just have been overlooked.
  if (says === 'kept' && scoreOf(junk) >= JUNK_FROM && known.junk > 0) return false;
  if (Math.min(known.junk, known.good) < WELL_TAUGHT) return true;
  return says === 'junk' ? junk < 1 - WITHOUT_DOUBT : junk > WITHOUT_DOUBT;
}
