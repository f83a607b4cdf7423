import { type Finding, plainWord } from './finding.ts';

/** How mail under one key fared so far: numbers of messages, faded with time. */
interface Past {
  key: string;
  seen: number;
  junked: number;
  kept: number;
  /** ms UTC, of the first. */
  since: number;
}

/** What an account and its box remember of a sender. */
export interface Remembered {
  own: readonly Past[];
  /** A vote an account. */
  box: readonly Past[];
  wrote: boolean;
}

/** What follows from the past of a sender. */
export interface Acquaintance {
  findings: readonly Finding[];
  /** The account had mail of this author and kept it, or wrote to it; and it is proved to be the one. */
  known: boolean;
}

const HOUR = 3_600_000;
/** Who makes itself known an hour before the real message is not known by that. */
const ACQUAINTED_AFTER = 12 * HOUR;
const MOST = 3;
/** Accounts that must agree before what they say counts for others. */
const FEWEST_VOTES = 3;
/** How far each kind of key speaks for a message, and against it. */
const WEIGHTS: Readonly<Record<string, { good: number; bad: number }>> = {
  a: { good: 2.5, bad: 3 },
  d: { good: 1, bad: 2 },
  c: { good: 0, bad: 2.5 },
  n: { good: 0.5, bad: 1.5 },
};

/**
 * What a sender's past says of its next message: one finding from -3 to 3. Only what is vouched for speaks for it, so
 * who borrows a friend's name is a stranger.
 */
export function acquaintance(
  { own, box, wrote }: Remembered,
  sender: { author: string; vouched: boolean },
  now: number,
): Acquaintance {
  const author = own.find(({ key }) => key.startsWith('a:'));
  const met = author !== undefined && now - author.since >= ACQUAINTED_AFTER && junkShare(author) < 0.2;
  const known = sender.vouched && (wrote || (met && author.seen + author.kept >= 0.5));
  if (sender.vouched && wrote) {
    const why = `You have written to ${plainWord(sender.author)}`;
    return { findings: [{ rule: 'known-sender', score: -MOST, why }], known };
  }
  const parts = [...own.map((past) => opinion(past, now)), ...box.map(verdictOfAll)].filter(({ score }) => score !== 0);
  const score = Math.max(
    -MOST,
    Math.min(
      MOST,
      parts.reduce((sum, part) => sum + part.score, 0),
    ),
  );
  const strongest = parts.toSorted((a, b) => Math.sign(score) * (b.score - a.score))[0];
  if (strongest === undefined || Math.abs(score) < 0.1) return { findings: [], known };
  const rounded = Math.round(score * 10) / 10;
  return { findings: [{ rule: score < 0 ? 'known-sender' : 'bad-past', score: rounded, why: strongest.why }], known };
}

interface Opinion {
  score: number;
  why: string;
}

function opinion(past: Past, now: number): Opinion {
  const { key, seen, junked, kept, since } = past;
  const { good, bad } = WEIGHTS[key[0] ?? ''] ?? { good: 0, bad: 0 };
  const who = shown(key);
  const share = junkShare(past);
  if (share >= 0.6 && junked >= 0.5) {
    // One is a hint, and four are a habit.
    const score = bad * share * Math.min(1, (1 + Math.log2(Math.max(1, junked))) / 3);
    return { score, why: `Mail from ${who} was mostly junk for you` };
  }
  if (share >= 0.2 || now - since < ACQUAINTED_AFTER) return { score: 0, why: '' };
  const score = -good * Math.min(1, kept + Math.log2(1 + seen) / 4);
  return { score, why: `You have had mail from ${who} before, and it was none that you took for junk` };
}

function verdictOfAll(past: Past): Opinion {
  const { key, junked, kept } = past;
  if (junked + kept < FEWEST_VOTES) return { score: 0, why: '' };
  if (junked >= 3 * kept) return { score: 1, why: `Others here took mail from ${shown(key)} for junk` };
  return kept >= 3 * junked ? { score: -0.5, why: `Others here kept mail from ${shown(key)}` } : { score: 0, why: '' };
}

function junkShare({ seen, junked, kept }: Past): number {
  // A message that was kept after all weighs more than one that nobody looked at.
  return junked / Math.max(0.01, seen + junked + 2 * kept);
}

function shown(key: string): string {
  const name = plainWord(key.slice(2));
  return key.startsWith('n:') ? `the network ${name}` : name;
}
