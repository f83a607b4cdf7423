import { command, lookup, query, type Stamp, type Write } from '../engine/types.ts';
import { recordSenderSample } from './sender-sample.ts';
import type { SampleCategory } from './sender-sample.ts';

/** Maximum words, hence rows, of one command. */
const MAX_WORDS = 500;
/**
 * Number of messages of a category after which a new one weighs twice as much, so that old samples fade without
 * updates. Powers of two add without rounding, so that a message can be untrained exactly.
 */
const MESSAGES_PER_HALVING = 1_000;
/** Larger powers of 2 overflow a sum. */
const MAX_HALVINGS = 900;
/** Weight of inferred samples. */
const KEPT_WEIGHT = 0.5;
/** Age of mail before the first sample that may be trained as kept. */
const KEPT_LOOKBACK_MS = 60 * 86_400_000;

/** Word statistics for one message, in messages of current weight. */
export interface WordWeights {
  /** Weight of all trained messages. */
  junk: number;
  good: number;
  words: { hash: number; junk: number; good: number }[];
}

interface CorpusRow extends Record<string, number> {
  junk: number;
  good: number;
  junk_samples: number;
  good_samples: number;
}

/** Word statistics of an account for these words; 0 for an untrained account. */
export const wordWeights = query(
  'word-weights',
  async (rx, { account, words }: { account: number; words: readonly number[] }): Promise<WordWeights> => {
    const memory = await rx.get<CorpusRow>(CORPUS, account);
    if (memory === undefined) return { junk: 0, good: 0, words: [] };
    const { junk, good } = weightDivisors(memory);
    const rows = await rx.all<{ hash: number; junk: number; good: number }>(WORD_ROWS, JSON.stringify(words), account);
    const faded = rows.map((row) => ({ hash: row.hash, junk: row.junk / junk, good: row.good / good }));
    return { junk: memory.junk / junk, good: memory.good / good, words: faded };
  },
);

const CORPUS = 'SELECT junk, good, junk_samples, good_samples FROM word_corpus WHERE account_id = ?';

/** CROSS JOIN prevents a scan of all words of the account. */
export const WORD_ROWS = `SELECT w.hash, w.junk, w.good FROM json_each(?) j CROSS JOIN word w ON w.account_id = ? AND w.hash = j.value`;

/** Divisors that convert sums to messages of current weight. */
export function weightDivisors(memory: { junk_samples: number; good_samples: number }): Record<Kind, number> {
  return { junk: weightAfter(memory.junk_samples), good: weightAfter(memory.good_samples) };
}

function weightAfter(samples: number): number {
  return 2 ** Math.min(MAX_HALVINGS, Math.floor(Math.max(0, samples) / MESSAGES_PER_HALVING));
}

type Kind = 'junk' | 'good';
type Change = Record<Kind, number>;

const kindOf = (says: SampleCategory): Kind => (says === 'junk' ? 'junk' : 'good');

/**
 * Trains one sample in the commit that removes it from the pending ones, hence exactly once. Reverts earlier training
 * of the same message. `stale`: it was processed or changed meanwhile.
 */
export const trainSample = command(
  'train-sample',
  async (
    tx,
    sample: { account: number; email: number; says: SampleCategory; words: readonly number[] },
    stamp,
  ): Promise<'learned' | 'known' | 'stale'> => {
    const { account, email, says } = sample;
    const taken = await tx.run(
      'DELETE FROM training_sample WHERE account_id = ? AND email_id = ? AND category = ?',
      account,
      email,
      says,
    );
    if (taken.changes === 0) return 'stale';
    const trained = await tx.get<{ says: SampleCategory; weight: number }>(
      'SELECT category AS says, weight FROM trained_sample WHERE email_id = ?',
      email,
    );
    if (trained !== undefined && (trained.says === says || says === 'kept')) return 'known';
    await recordSenderSample(tx, sample, stamp);
    const memory = await corpusOf(tx, account, stamp);
    const weight = weightAfter(memory[`${kindOf(says)}_samples`]) * (says === 'kept' ? KEPT_WEIGHT : 1);
    const sums: Change = { junk: 0, good: 0 };
    const counts: Change = { junk: 0, good: 0 };
    if (trained !== undefined) {
      sums[kindOf(trained.says)] -= trained.weight;
      counts[kindOf(trained.says)] -= trained.weight > 0 ? 1 : 0;
    }
    sums[kindOf(says)] += weight;
    counts[kindOf(says)] += 1;
    const fresh = await addWords(tx, account, sample.words.slice(0, MAX_WORDS), sums);
    await tx.run(
      `UPDATE word_corpus SET junk = max(0, junk + ?), good = max(0, good + ?), junk_samples = max(0, junk_samples + ?),
         good_samples = max(0, good_samples + ?), words = words + ? WHERE account_id = ?`,
      sums.junk,
      sums.good,
      counts.junk,
      counts.good,
      fresh,
      account,
    );
    await tx.run(
      `INSERT INTO trained_sample (email_id, category, weight) VALUES (?1, ?2, ?3)
       ON CONFLICT (email_id) DO UPDATE SET category = ?2, weight = ?3`,
      email,
      says,
      weight,
    );
    return 'learned';
  },
);

async function corpusOf(tx: Write, account: number, stamp: Stamp): Promise<CorpusRow> {
  const known = await tx.get<CorpusRow>(CORPUS, account);
  if (known !== undefined) return known;
  await tx.run(
    'INSERT INTO word_corpus (account_id, sampled_until) VALUES (?, ?)',
    account,
    stamp.now - KEPT_LOOKBACK_MS,
  );
  return { junk: 0, good: 0, junk_samples: 0, good_samples: 0 };
}

/** Updates word rows; minimum 0, since a row may have been swept. Returns the number of new words. */
async function addWords(tx: Write, account: number, words: readonly number[], sums: Change): Promise<number> {
  const list = JSON.stringify(words);
  const { changes } = await tx.run(
    'INSERT INTO word (account_id, hash) SELECT ?, value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING',
    account,
    list,
  );
  await tx.run(
    `UPDATE word SET junk = max(0, junk + ?), good = max(0, good + ?)
     WHERE account_id = ? AND hash IN (SELECT value FROM json_each(?))`,
    sums.junk,
    sums.good,
    account,
    list,
  );
  return changes;
}

/** The category that one message was trained as, if any. */
export const trainedSampleOf = lookup(
  'trained-sample-of',
  async (rx, { email }: { email: number }): Promise<SampleCategory | undefined> =>
    (await rx.get<{ says: SampleCategory }>('SELECT category AS says FROM trained_sample WHERE email_id = ?', email))
      ?.says,
);

/** Deletes the record of a purged message; its words stay trained until they fade. */
export async function deleteTrainedSample(tx: Write, email: number): Promise<void> {
  await tx.run('DELETE FROM trained_sample WHERE email_id = ?', email);
}
