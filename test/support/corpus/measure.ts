import { type Finding, JUNK_FROM } from '../../../mail/policy/finding.ts';
import type { Sample } from '../../../mail/policy/sample.ts';
import { wordsFinding } from '../../../mail/policy/words/words-finding.ts';
import { wordsOf } from '../../../mail/policy/words/words-of.ts';
import { mailParts } from '../../../mail/parts.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { noteLessons } from '../../../mail/store/lesson.ts';
import { knownWords, learn } from '../../../mail/store/words.ts';
import { testAccount, testStore } from '../store.ts';
import { type CorpusMessage, corpusSample, spamCorpus } from './spam-corpus.ts';

/** What became of the messages of one kind. */
export interface Tally {
  kind: CorpusMessage['kind'];
  isJunk: boolean;
  all: number;
  junked: number;
  /** In the inbox, with something that speaks against them. */
  doubted: number;
}

/** By kind. */
export type Tallies = readonly Tally[];

export interface Measuring {
  seed: number;
  /** Messages, half of them junk. */
  count: number;
  /** Of either kind, from the beginning: a person has said what they are. */
  taught: number;
  /** What else speaks for or against a message that comes at that time. */
  checks: (sample: Sample, now: number) => readonly Finding[];
}

const teach = command('teach', async (tx, what: { account: number; email: number; junk: boolean }): Promise<void> => {
  await noteLessons(tx, what.account, [what.email], what.junk ? 'junk' : 'good');
});

/**
 * Teaches the first messages of a made-up mailbox to a real store, and judges all later ones without teaching more: by their
 * words alone, and by everything.
 */
export async function measure({ seed, count, taught, checks }: Measuring): Promise<{ words: Tallies; whole: Tallies }> {
  const parts = mailParts();
  await using box = await testStore({ ...parts, commands: [...parts.commands, teach] });
  const { account } = await testAccount(box.store);
  const left = { junk: taught, good: taught };
  const lessons: Promise<unknown>[] = [];
  const later: { message: CorpusMessage; sample: Sample }[] = [];
  for (const [email, message] of spamCorpus(seed, count).entries()) {
    const sample = await corpusSample(message);
    const says = message.junk ? 'junk' : 'good';
    if (left[says]-- <= 0) later.push({ message, sample });
    else {
      lessons.push(box.store.write(teach, { account, email, junk: message.junk }));
      lessons.push(box.store.write(learn, { account, email, says, words: wordsOf(sample) }));
    }
  }
  await Promise.all(lessons);
  const [words, whole] = [new Map<string, Tally>(), new Map<string, Tally>()];
  for (const { message, sample } of later) {
    const own = wordsFinding(await box.store.read(knownWords, { account, words: wordsOf(sample) }));
    addTo(words, message, own);
    addTo(whole, message, [...own, ...checks(sample, message.at)]);
  }
  return { words: [...words.values()], whole: [...whole.values()] };
}

function addTo(kinds: Map<string, Tally>, { kind, junk }: CorpusMessage, findings: readonly Finding[]): void {
  const score = findings.reduce((sum, one) => sum + one.score, 0);
  const tally = kinds.get(kind) ?? { kind, isJunk: junk, all: 0, junked: 0, doubted: 0 };
  tally.all++;
  if (score >= JUNK_FROM) tally.junked++;
  else if (score > 0) tally.doubted++;
  kinds.set(kind, tally);
}

/** How many there were of either sort, and in Junk. */
export function summed(tallies: Tallies, isJunk: boolean): { all: number; junked: number } {
  const some = tallies.filter((one) => one.isJunk === isJunk);
  return { all: some.reduce((n, { all }) => n + all, 0), junked: some.reduce((n, { junked }) => n + junked, 0) };
}
