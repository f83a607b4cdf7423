import { type Finding, sanitizeWord } from './finding.ts';

/** Message counts of one reputation key; they decay with time. */
interface SenderHistory {
  key: string;
  seen: number;
  junked: number;
  kept: number;
  /** First message, ms UTC. */
  since: number;
}

/** Reputation of a sender in one account and on the whole box. */
export interface ReputationRecord {
  own: readonly SenderHistory[];
  /** One vote per account. */
  box: readonly SenderHistory[];
  hasWritten: boolean;
}

/** Result of the reputation check. */
export interface ReputationResult {
  findings: readonly Finding[];
  /** The account received and kept mail of this author, or wrote to it, and the author is authenticated. */
  known: boolean;
}

const HOUR = 3_600_000;
/** Age of the first message before a sender counts as known: a spammer must not send a harmless message an hour earlier. */
const MIN_ACQUAINTANCE_MS = 12 * HOUR;
const MAX_SCORE = 3;
/** Votes that are needed before they count for other accounts. */
const MIN_VOTES = 3;
/** Maximum score for and against a message by kind of key. */
const WEIGHTS: Readonly<Record<string, { good: number; bad: number }>> = {
  a: { good: 2.5, bad: 3 },
  d: { good: 1, bad: 2 },
  c: { good: 0, bad: 2.5 },
  n: { good: 0.5, bad: 1.5 },
};

/**
 * Scores the reputation of a sender: at most one finding from -3 to 3. Only authenticated senders get a negative score, so a
 * forged friend's address does not help.
 */
export function evaluateReputation(
  { own, box, hasWritten }: ReputationRecord,
  sender: { author: string; authenticated: boolean },
  now: number,
): ReputationResult {
  const author = own.find(({ key }) => key.startsWith('a:'));
  const isAcquainted = author !== undefined && now - author.since >= MIN_ACQUAINTANCE_MS && junkShare(author) < 0.2;
  const known = sender.authenticated && (hasWritten || (isAcquainted && author.seen + author.kept >= 0.5));
  if (sender.authenticated && hasWritten) {
    const why = `You have written to ${sanitizeWord(sender.author)}`;
    return { findings: [{ rule: 'known-sender', score: -MAX_SCORE, why }], known };
  }
  const scores = [...own.map((history) => ownScore(history, now)), ...box.map(sharedScore)].filter(
    ({ score }) => score !== 0,
  );
  const score = Math.max(
    -MAX_SCORE,
    Math.min(
      MAX_SCORE,
      scores.reduce((sum, part) => sum + part.score, 0),
    ),
  );
  const strongest = scores.toSorted((a, b) => Math.sign(score) * (b.score - a.score))[0];
  if (strongest === undefined || Math.abs(score) < 0.1) return { findings: [], known };
  const rounded = Math.round(score * 10) / 10;
  return {
    findings: [{ rule: score < 0 ? 'known-sender' : 'bad-past', score: rounded, why: strongest.why }],
    known,
  };
}

interface KeyScore {
  score: number;
  why: string;
}

function ownScore(history: SenderHistory, now: number): KeyScore {
  const { key, seen, junked, kept, since } = history;
  const { good, bad } = WEIGHTS[key[0] ?? ''] ?? { good: 0, bad: 0 };
  const who = describeKey(key);
  const share = junkShare(history);
  if (share >= 0.6 && junked >= 0.5) {
    // Full weight from four junk messages on.
    const score = bad * share * Math.min(1, (1 + Math.log2(Math.max(1, junked))) / 3);
    return { score, why: `You marked most mail from ${who} as junk` };
  }
  if (share >= 0.2 || now - since < MIN_ACQUAINTANCE_MS) return { score: 0, why: '' };
  const score = -good * Math.min(1, kept + Math.log2(1 + seen) / 4);
  return { score, why: `You have received mail from ${who} before and kept it` };
}

function sharedScore(history: SenderHistory): KeyScore {
  const { key, junked, kept } = history;
  if (junked + kept < MIN_VOTES) return { score: 0, why: '' };
  if (junked >= 3 * kept) return { score: 1, why: `Others here marked mail from ${describeKey(key)} as junk` };
  return kept >= 3 * junked
    ? { score: -0.5, why: `Others here kept mail from ${describeKey(key)}` }
    : { score: 0, why: '' };
}

function junkShare({ seen, junked, kept }: SenderHistory): number {
  // A message that was rescued from Junk weighs more than one that nobody moved.
  return junked / Math.max(0.01, seen + junked + 2 * kept);
}

function describeKey(key: string): string {
  const name = sanitizeWord(key.slice(2));
  return key.startsWith('n:') ? `the network ${name}` : name;
}
