import type { Finding } from '../../policy/finding.ts';
import { ScanTrouble } from './scanner.ts';

/** A symbol below this says nothing that a person would want to read. */
const WORTH_NAMING = 0.5;
const MOST_NAMED = 5;
const LONGEST_WORDS = 80;
/** The most that a message gets for symbols that made Rspamd do nothing. */
const MOST_UNMARKED = 4;

/** What follows from each of Rspamd's actions. A delay is not made of it: we have one of our own. */
const ACTIONS: Readonly<Record<string, { score: number; would: string; refuse?: true }>> = {
  reject: { score: 10, would: 'refuse it', refuse: true },
  discard: { score: 10, would: 'throw it away', refuse: true },
  quarantine: { score: 5, would: 'put it aside' },
  'add header': { score: 5, would: 'mark it as junk' },
  'rewrite subject': { score: 5, would: 'mark it as junk' },
};

interface Symbol {
  /** As the rules of that server describe it, else its name. */
  words: string;
  score: number;
}

/** What the answer to `/checkv2` says of a message. Throws {@link ScanTrouble} for what is no such answer. */
export function rspamdFindings(text: string): readonly Finding[] {
  const answer = objectIn(text);
  const { action, score, required_score: required } = answer;
  // By its settings; a test pattern is skipped too, and still has its action.
  if (answer['is_skipped'] === true && action !== 'reject') return [];
  if (typeof action !== 'string' || !isNumber(score)) throw new ScanTrouble('its answer is none');
  const symbols = symbolsOf(answer['symbols']);
  const known = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  const most = isNumber(required) && required > 0 ? required : 15;
  const points = known?.score ?? Math.min(MOST_UNMARKED, Math.max(0, rounded((score * 10) / most)));
  if (known === undefined && (points === 0 || symbols.length === 0)) return [];
  const would = known === undefined ? 'finds something in it' : `would ${known.would}`;
  const named = symbols.length === 0 ? '' : `: ${symbols.map(worded).join(', ')}`;
  const why = `Rspamd ${would} (${rounded(score)} of ${rounded(most)} points)${named}`;
  return [{ rule: 'rspamd', score: points, why, ...(known?.refuse && { refuse: true }) }];
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return { ...answer };
  } catch {
    // Said below.
  }
  throw new ScanTrouble('its answer is none');
}

/** Those that speak against the message, the worst first. Their options quote the message and are left out. */
function symbolsOf(given: unknown): Symbol[] {
  if (typeof given !== 'object' || given === null) return [];
  const all = Object.entries(given).flatMap(([name, one]: [string, unknown]) => {
    if (typeof one !== 'object' || one === null || !('score' in one)) return [];
    const { score } = one;
    const words = 'description' in one && typeof one.description === 'string' ? one.description : name;
    return isNumber(score) && score > WORTH_NAMING ? [{ words: harmless(words), score }] : [];
  });
  return all.toSorted((a, b) => b.score - a.score).slice(0, MOST_NAMED);
}

function harmless(words: string): string {
  // It may be told to who wrote: with no link in it.
  const plain = words
    .slice(0, LONGEST_WORDS)
    .replace(/[^\x20-\x7e]/g, '?')
    .replaceAll('://', ' ');
  return plain.trim().replace(/\.$/, '') || 'a rule';
}

function worded({ words, score }: Symbol): string {
  return `${words} (${rounded(score)})`;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function rounded(number: number): number {
  return Math.round(number * 10) / 10;
}
