import { type Finding, JUNK_THRESHOLD } from '../finding.ts';
import { estimateJunk, type WordStatistics } from './likelihood.ts';

/** Weighted samples of each kind: below MIN_MESSAGES there is no score, below FULL_WEIGHT_MESSAGES a reduced one. */
const MIN_MESSAGES = 5;
const FULL_WEIGHT_MESSAGES = 120;

/** Scores by junk probability, with linear interpolation. */
const SCORES: readonly [likely: number, score: number][] = [
  [0, -3],
  [0.01, -2.5],
  [0.1, -1.5],
  [0.4, 0],
  [0.5, 0],
  [0.58, JUNK_THRESHOLD],
  [0.9, 6],
  [0.99, 7],
  [1, 8],
];

/** Scores the words of a message by the training samples of the account. */
export function scoreWords(memory: WordStatistics): Finding[] {
  const fewest = Math.min(memory.junk, memory.good);
  if (fewest < MIN_MESSAGES) return [];
  const { junk } = estimateJunk(memory);
  const sure = Math.min(1, Math.sqrt(fewest / FULL_WEIGHT_MESSAGES));
  const score = Math.round(10 * sure * scoreOfLikelihood(junk)) / 10;
  if (score === 0) return [];
  const samples = `${Math.round(memory.junk)} that you marked as junk and ${Math.round(memory.good)} that you kept`;
  const like = score > 0 ? 'mail that you moved to Junk' : 'mail that you kept';
  return [{ rule: 'words', score, why: `Its words resemble ${like}; compared with ${samples}` }];
}

/** Interpolates the score of a probability, at full weight. */
export function scoreOfLikelihood(likely: number): number {
  const above = SCORES.findIndex(([at]) => at >= likely);
  const [high, highScore] = SCORES[Math.max(1, above)] ?? [1, 0];
  const [low, lowScore] = SCORES[Math.max(1, above) - 1] ?? [0, 0];
  return lowScore + ((highScore - lowScore) * (likely - low)) / (high - low);
}
