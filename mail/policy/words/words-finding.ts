import { type Finding, JUNK_FROM } from '../finding.ts';
import { likelihood, type Memory } from './likelihood.ts';

/** Below this many messages of a kind, in today's weight, words say less; below the first number nothing at all. */
const FEWEST = 5;
const ENOUGH = 120;

/** Scores by how likely the message is junk, straight lines between them. */
const SCORES: readonly [likely: number, score: number][] = [
  [0, -3],
  [0.01, -2.5],
  [0.1, -1.5],
  [0.4, 0],
  [0.5, 0],
  [0.58, JUNK_FROM],
  [0.9, 6],
  [0.99, 7],
  [1, 8],
];

/** What the words of a message say, by what the account has moved to Junk and what it has kept. */
export function wordsFinding(memory: Memory): Finding[] {
  const fewest = Math.min(memory.junk, memory.good);
  if (fewest < FEWEST) return [];
  const { junk } = likelihood(memory);
  const sure = Math.min(1, Math.sqrt(fewest / ENOUGH));
  const score = Math.round(10 * sure * scoreOf(junk)) / 10;
  if (score === 0) return [];
  const learned = `${Math.round(memory.junk)} that you marked as junk and ${Math.round(memory.good)} that you kept`;
  const like = score > 0 ? 'those of mail that you moved to Junk' : 'those of mail that you keep';
  return [{ rule: 'words', score, why: `Its words are like ${like}; compared with ${learned}` }];
}

/** What a likelihood counts for, however much was learned. */
export function scoreOf(likely: number): number {
  const above = SCORES.findIndex(([at]) => at >= likely);
  const [high, highScore] = SCORES[Math.max(1, above)] ?? [1, 0];
  const [low, lowScore] = SCORES[Math.max(1, above) - 1] ?? [0, 0];
  return lowScore + ((highScore - lowScore) * (likely - low)) / (high - low);
}
