import { command, query, type Stamp, type Write } from './engine/types.ts';
import type { Says } from './lesson.ts';
import { noteLessonOfSender } from './lesson-sender.ts';

/** Words that one command takes: the rows that it touches. */
const MOST_WORDS = 500;
/**
 * After so many messages of a kind a new one weighs twice as much as before: what is old fades without being touched.
 * Powers of two add up without rounding, so that a message can be unlearned exactly.
 */
const HALVING = 1_000;
/** 2 to the power of more would be too much for a sum; nobody moves a million messages by hand. */
const MOST_HALVINGS = 900;
/** What nobody said weighs less than what somebody did. */
const KEPT_WEIGHT = 0.5;
/** Mail of so long before the first lesson may be learned as kept. */
const KEPT_BEFORE_MS = 60 * 86_400_000;

/** What an account remembers of the words of one message, in messages of today's weight. */
export interface KnownWords {
  /** Of all messages that were learned. */
  junk: number;
  good: number;
  words: { hash: number; junk: number; good: number }[];
}

interface MemoryRow extends Record<string, number> {
  junk: number;
  good: number;
  junk_lessons: number;
  good_lessons: number;
}

/** What an account knows of a message with these words; everything is 0 for one that has learned nothing. */
export const knownWords = query(
  'known-words',
  async (rx, { account, words }: { account: number; words: readonly number[] }): Promise<KnownWords> => {
    const memory = await rx.get<MemoryRow>(MEMORY, account);
    if (memory === undefined) return { junk: 0, good: 0, words: [] };
    const { junk, good } = fadedBy(memory);
    const rows = await rx.all<{ hash: number; junk: number; good: number }>(KNOWN, JSON.stringify(words), account);
    const faded = rows.map((row) => ({ hash: row.hash, junk: row.junk / junk, good: row.good / good }));
    return { junk: memory.junk / junk, good: memory.good / good, words: faded };
  },
);

const MEMORY = 'SELECT junk, good, junk_lessons, good_lessons FROM word_memory WHERE account_id = ?';

/** Left to itself the planner might walk all words of the account. */
export const KNOWN = `SELECT w.hash, w.junk, w.good FROM json_each(?) j CROSS JOIN word w ON w.account_id = ? AND w.hash = j.value`;

/** What sums of an account are divided by, to be in messages of today's weight. */
export function fadedBy(memory: { junk_lessons: number; good_lessons: number }): Record<Kind, number> {
  return { junk: weightAfter(memory.junk_lessons), good: weightAfter(memory.good_lessons) };
}

function weightAfter(lessons: number): number {
  return 2 ** Math.min(MOST_HALVINGS, Math.floor(Math.max(0, lessons) / HALVING));
}

type Kind = 'junk' | 'good';
type Change = Record<Kind, number>;

const kindOf = (says: Says): Kind => (says === 'junk' ? 'junk' : 'good');

/**
 * Learns one lesson, in the commit that takes it from the list, so that it is learned once whatever happens. What was learned
 * of the same message before is taken back. `stale`: it was taken up before, or says something else by now.
 */
export const learn = command(
  'learn',
  async (
    tx,
    lesson: { account: number; email: number; says: Says; words: readonly number[] },
    stamp,
  ): Promise<'learned' | 'known' | 'stale'> => {
    const { account, email, says } = lesson;
    const taken = await tx.run(
      'DELETE FROM lesson WHERE account_id = ? AND email_id = ? AND says = ?',
      account,
      email,
      says,
    );
    if (taken.changes === 0) return 'stale';
    const before = await tx.get<{ says: Says; weight: number }>(
      'SELECT says, weight FROM learned WHERE email_id = ?',
      email,
    );
    if (before !== undefined && (before.says === says || says === 'kept')) return 'known';
    await noteLessonOfSender(tx, lesson, stamp);
    const memory = await memoryOf(tx, account, stamp);
    const weight = weightAfter(memory[`${kindOf(says)}_lessons`]) * (says === 'kept' ? KEPT_WEIGHT : 1);
    const sums: Change = { junk: 0, good: 0 };
    const lessons: Change = { junk: 0, good: 0 };
    if (before !== undefined) {
      sums[kindOf(before.says)] -= before.weight;
      lessons[kindOf(before.says)] -= before.weight > 0 ? 1 : 0;
    }
    sums[kindOf(says)] += weight;
    lessons[kindOf(says)] += 1;
    const fresh = await addWords(tx, account, lesson.words.slice(0, MOST_WORDS), sums);
    await tx.run(
      `UPDATE word_memory SET junk = max(0, junk + ?), good = max(0, good + ?), junk_lessons = max(0, junk_lessons + ?),
         good_lessons = max(0, good_lessons + ?), words = words + ? WHERE account_id = ?`,
      sums.junk,
      sums.good,
      lessons.junk,
      lessons.good,
      fresh,
      account,
    );
    await tx.run(
      `INSERT INTO learned (email_id, says, weight) VALUES (?1, ?2, ?3)
       ON CONFLICT (email_id) DO UPDATE SET says = ?2, weight = ?3`,
      email,
      says,
      weight,
    );
    return 'learned';
  },
);

async function memoryOf(tx: Write, account: number, stamp: Stamp): Promise<MemoryRow> {
  const known = await tx.get<MemoryRow>(MEMORY, account);
  if (known !== undefined) return known;
  await tx.run('INSERT INTO word_memory (account_id, kept_until) VALUES (?, ?)', account, stamp.now - KEPT_BEFORE_MS);
  return { junk: 0, good: 0, junk_lessons: 0, good_lessons: 0 };
}

/** Answers how many of the words are new. A row never goes below nothing: it may have been swept meanwhile. */
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

/** What was learned from one message, if anything was. */
export const learnedOf = query(
  'learned-of',
  async (rx, { email }: { email: number }): Promise<Says | undefined> =>
    (await rx.get<{ says: Says }>('SELECT says FROM learned WHERE email_id = ?', email))?.says,
);

/** A message was forgotten: what its words taught stays, until it fades. */
export async function forgetLearned(tx: Write, email: number): Promise<void> {
  await tx.run('DELETE FROM learned WHERE email_id = ?', email);
}
