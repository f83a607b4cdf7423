import type { SampleCategory } from '../store/filter/sender-sample.ts';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { FilterUnavailable } from '../filter/mail-filter.ts';
import type { Log } from '../log.ts';
import { JUNK_THRESHOLD } from '../policy/finding.ts';
import { estimateJunk } from '../policy/words/likelihood.ts';
import { scoreOfLikelihood } from '../policy/words/score-words.ts';
import { blobBytes } from '../store/blob/content.ts';
import { StoreBusy } from '../store/engine/types.ts';
import { deleteTrainingSamples, type TrainingSample, nextTrainingSamples } from '../store/filter/training-sample.ts';
import type { SampleMessage } from '../store/filter/sample-words.ts';
import type { MailStore } from '../store/store.ts';
import { type WordWeights, wordWeights, trainSample, trainedSampleOf } from '../store/filter/words.ts';
import type { Job } from './scheduler.ts';

/** Samples of one account before the next account. */
const SAMPLES_PER_TURN = 25;
/** Messages of each class from which on a correctly and confidently classified one is not trained. */
const ENOUGH_SAMPLES = 200;
const MAX_DOUBT = 0.02;

export interface TrainingOptions {
  store: MailStore;
  log: Log;
  /** Reads the words of a message in a worker thread. */
  wordsOf: (source: SampleMessage) => Promise<readonly number[]>;
}

/** Trains the filter with mail marked by its accounts. A sample is a row, deleted in the commit that trains it. */
export class TrainingJob implements Job {
  readonly name = 'training';
  readonly everyMs = 3_000;
  readonly backoffMs = 60_000;
  readonly #options: TrainingOptions;
  /** Samples that failed once, possibly because a worker thread ended during another message: retried once. */
  readonly #failed = new Set<number>();

  constructor(options: TrainingOptions) {
    this.#options = options;
  }

  /** Trains all pending samples, some of each account in turn. */
  async run(stop?: AbortSignal): Promise<void> {
    const { store } = this.#options;
    const stopped = (): boolean => stop?.aborted === true;
    for (let after = 0, any = true; !stopped();) {
      const next = await store.read(nextTrainingSamples, { after, limit: SAMPLES_PER_TURN });
      if (next === undefined && !any) return;
      any = next !== undefined;
      after = next?.account ?? 0;
      if (next === undefined) continue;
      const { account, samples, gone } = next;
      const nothing = gone.map((email) => ({ email, says: null }));
      if (gone.length > 0) await store.writeSlice(deleteTrainingSamples, { account, samples: nothing });
      for (const sample of samples) if (!stopped()) await this.#train(account, sample);
    }
  }

  /** Trains one sample. One that fails twice is dropped, so that it does not block those after it. */
  async #train(account: number, sample: TrainingSample): Promise<void> {
    const { store, log } = this.#options;
    const { email, category: says } = sample;
    try {
      const words = await this.#words(sample);
      const known = await store.read(wordWeights, { account, words });
      const before = await store.read(trainedSampleOf, { email });
      if (shouldTrain(says, before, known)) await store.writeSlice(trainSample, { account, email, says, words });
      else await store.writeSlice(deleteTrainingSamples, { account, samples: [{ email, says }] });
      this.#failed.delete(email);
    } catch (error) {
      // The store or the filter is unavailable for all messages.
      if (error instanceof StoreBusy || error instanceof FilterUnavailable) throw error;
      if (!this.#failed.delete(email)) return void this.#failed.add(email);
      log.error({ err: error, account }, 'failed to train a message, sample dropped');
      await store.writeSlice(deleteTrainingSamples, { account, samples: [{ email, says, unread: true }] });
    }
    // Training is low priority: yields to other work of this thread.
    await yieldToEventLoop();
  }

  async #words({ blob, size, headerLength, parts, forged }: TrainingSample): Promise<readonly number[]> {
    const { store, wordsOf } = this.#options;
    const found = await store.read(blobBytes, { blob, start: 0, length: size });
    if (found === undefined) throw new Error(`blob ${blob} does not exist`);
    const octets = 'file' in found ? await store.files.ensure(found.file) : found.data;
    return wordsOf({ octets, headerLength, parts, forged: forged === 1 });
  }
}

/**
 * True when a sample is worth training. A corrected mark always is. A correctly and confidently classified message is not,
 * so that neither ten thousand messages moved at once nor mail that is only kept let the word table grow.
 */
export function shouldTrain(says: SampleCategory, before: SampleCategory | undefined, known: WordWeights): boolean {
  if (before !== undefined) return before !== says && says !== 'kept';
  const { junk } = estimateJunk(known);
  // 'kept' is no explicit mark: mail that looks like junk may have been overlooked.
  if (says === 'kept' && scoreOfLikelihood(junk) >= JUNK_THRESHOLD && known.junk > 0) return false;
  if (Math.min(known.junk, known.good) < ENOUGH_SAMPLES) return true;
  return says === 'junk' ? junk < 1 - MAX_DOUBT : junk > MAX_DOUBT;
}
