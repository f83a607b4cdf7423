import { type Finding, JUNK_THRESHOLD } from '../../../mail/policy/finding.ts';
import { evaluateReputation } from '../../../mail/policy/reputation.ts';
import { notedKeys } from '../../../mail/policy/noted-keys.ts';
import type { Sample } from '../../../mail/policy/sample.ts';
import { senderKeys } from '../../../mail/policy/sender-keys.ts';
import { authenticatedDomain } from '../../../mail/policy/author-proof.ts';
import { scoreWords } from '../../../mail/policy/words/score-words.ts';
import { messageWords } from '../../../mail/policy/words/message-words.ts';
import { mailParts } from '../../../mail/store-thread-parts.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { recordTrainingSamples } from '../../../mail/store/filter/training-sample.ts';
import { recordSenderDelivery, recordSenderVote, reputationOf } from '../../../mail/store/filter/sender.ts';
import { wordWeights, trainSample } from '../../../mail/store/filter/words.ts';
import { shouldTrain } from '../../../mail/jobs/training.ts';
import { Random } from '../random.ts';
import { testAccount, testStore } from '../store.ts';
import { type CorpusMessage, corpusSample, spamCorpus } from './spam-corpus.ts';

/** Results for the messages of one kind. */
export interface Total {
  kind: CorpusMessage['kind'];
  isJunk: boolean;
  all: number;
  junked: number;
  /** In the inbox, with something that speaks against them. */
  doubted: number;
}

/** By kind. */
export type Tallies = readonly Total[];

export interface Measuring {
  seed: number;
  /** Messages, half of them junk. */
  count: number;
  /** Messages of each kind used for training, from the start. */
  taught: number;
  /** Share of wanted personal mail in the inbox that gets a reply, and of junk by mistake. */
  answered?: { good: number; junk: number };
  /** Further properties of a message that arrives at that time. */
  checks: (sample: Sample, now: number) => readonly Finding[];
}

/** A delivery that a person says something of, or one that nobody looks at. */
interface Delivered {
  account: number;
  email: number;
  keys: string[];
  junk: boolean;
  /** A person said which it is. */
  taught: boolean;
  /** A person answered it. */
  answered: boolean;
  now: number;
}

/** As the deliver command and the job do it together. */
const note = command(
  'note',
  async (tx, { account, email, keys, junk, taught, answered, now }: Delivered): Promise<void> => {
    await recordSenderDelivery(tx, { account, keys: notedKeys(keys), junk: !taught && junk }, { now });
    if (answered) await recordSenderVote(tx, { account, keys, vote: 'kept' }, { now });
    if (!taught) return;
    await recordSenderVote(tx, { account, keys, vote: junk ? 'junk' : 'kept' }, { now });
    await recordTrainingSamples(tx, account, [email], junk ? 'junk' : 'good');
  },
);

/**
 * Trains a real store on the first messages of a generated mailbox, and classifies all later ones without training: by their
 * words alone, and by everything: checks, and what became of the sender's mail before.
 */
export async function measure({
  seed,
  count,
  taught,
  checks,
  answered,
}: Measuring): Promise<{ words: Tallies; whole: Tallies }> {
  const parts = mailParts();
  await using box = await testStore({ ...parts, commands: [...parts.commands, note] });
  const { account } = await testAccount(box.store);
  const left = { junk: taught, good: taught };
  const random = new Random(seed);
  const [words, whole] = [new Map<string, Total>(), new Map<string, Total>()];
  for (const [email, message] of spamCorpus(seed, count).entries()) {
    const sample = await corpusSample(message);
    const says = message.junk ? 'junk' : 'good';
    const { at: now } = message;
    const keys = senderKeys(sample);
    if (left[says]-- > 0) {
      void box.store.write(note, { account, email, keys, junk: message.junk, taught: true, answered: false, now });
      await box.store.write(trainSample, { account, email, says, words: messageWords(sample) });
      continue;
    }
    const { author } = sample;
    const own = scoreWords(await box.store.read(wordWeights, { account, words: messageWords(sample) }));
    const past = await box.store.read(reputationOf, { account, keys, author, now });
    const { findings } = evaluateReputation(past, { author, authenticated: authenticatedDomain(sample) !== '' }, now);
    addTo(words, message, own);
    const junk = addTo(whole, message, [...own, ...checks(sample, now), ...findings]);
    const answers = !junk && random.chance(sharesAnswered(message, answered));
    const known = answers ? await box.store.read(wordWeights, { account, words: messageWords(sample) }) : undefined;
    if (known !== undefined && shouldTrain('kept', undefined, known))
      await box.store.write(trainSample, { account, email, says: 'kept', words: messageWords(sample) });
    // Read when the next one comes, and no sooner: nobody waits for it.
    void box.store.write(note, { account, email, keys, junk, taught: false, answered: answers, now });
  }
  return { words: [...words.values()], whole: [...whole.values()] };
}

function sharesAnswered({ kind, junk }: CorpusMessage, shares: Measuring['answered']): number {
  if (shares === undefined) return 0;
  if (junk) return shares.junk;
  return kind === 'personal' || kind === 'first contact' ? shares.good : 0;
}

/** Answers whether it went to Junk. */
function addTo(kinds: Map<string, Total>, { kind, junk }: CorpusMessage, findings: readonly Finding[]): boolean {
  const score = findings.reduce((sum, one) => sum + one.score, 0);
  const total = kinds.get(kind) ?? { kind, isJunk: junk, all: 0, junked: 0, doubted: 0 };
  total.all++;
  if (score >= JUNK_THRESHOLD) total.junked++;
  else if (score > 0) total.doubted++;
  kinds.set(kind, total);
  return score >= JUNK_THRESHOLD;
}

/** Counts of each kind, and of those in Junk. */
export function summed(tallies: Tallies, isJunk: boolean): { all: number; junked: number } {
  const some = tallies.filter((one) => one.isJunk === isJunk);
  return { all: some.reduce((n, { all }) => n + all, 0), junked: some.reduce((n, { junked }) => n + junked, 0) };
}
