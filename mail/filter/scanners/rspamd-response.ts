import type { Finding } from '../../policy/finding.ts';
import { ScanError } from './scanner.ts';

/** Symbols with a lower score are not reported. */
const MIN_SYMBOL_SCORE = 0.5;
const MAX_SYMBOLS = 5;
const MAX_DESCRIPTION = 80;
/** Maximum score if Rspamd takes no action. */
const MAX_SCORE_WITHOUT_ACTION = 4;

/** Effects of the actions of Rspamd. `greylist` is ignored: the receiver greylists by itself. */
const ACTIONS: Readonly<Record<string, { score: number; would: string; refuse?: true }>> = {
  reject: { score: 10, would: 'reject the message', refuse: true },
  discard: { score: 10, would: 'discard the message', refuse: true },
  quarantine: { score: 5, would: 'quarantine the message' },
  'add header': { score: 5, would: 'mark the message as junk' },
  'rewrite subject': { score: 5, would: 'mark the message as junk' },
};

interface RspamdSymbol {
  /** Description by the rules of that server, else the name of the symbol. */
  words: string;
  score: number;
}

/** Parses the response to `/checkv2`. Throws {@link ScanError} for anything else. */
export function rspamdFindings(text: string): readonly Finding[] {
  const response = parseObject(text);
  const { action, score, required_score: required } = response;
  // Skipped by its settings. The GTUBE test pattern is skipped too, but has its action.
  if (response['is_skipped'] === true && action !== 'reject') return [];
  if (typeof action !== 'string' || !isNumber(score)) throw new ScanError('invalid response');
  const symbols = symbolsOf(response['symbols']);
  const effect = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  const threshold = isNumber(required) && required > 0 ? required : 15;
  const points = effect?.score ?? Math.min(MAX_SCORE_WITHOUT_ACTION, Math.max(0, rounded((score * 10) / threshold)));
  if (effect === undefined && (points === 0 || symbols.length === 0)) return [];
  const would = effect === undefined ? 'found matches' : `would ${effect.would}`;
  const named = symbols.length === 0 ? '' : `: ${symbols.map(describeSymbol).join(', ')}`;
  const why = `Rspamd ${would} (${rounded(score)} of ${rounded(threshold)} points)${named}`;
  return [{ rule: 'rspamd', score: points, why, ...(effect?.refuse && { refuse: true }) }];
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const response: unknown = JSON.parse(text);
    if (typeof response === 'object' && response !== null && !Array.isArray(response)) return { ...response };
  } catch {
    // Thrown below.
  }
  throw new ScanError('invalid response');
}

/** Symbols with positive scores, highest first. Their options quote the message and are left out. */
function symbolsOf(given: unknown): RspamdSymbol[] {
  if (typeof given !== 'object' || given === null) return [];
  const all = Object.entries(given).flatMap(([name, one]: [string, unknown]) => {
    if (typeof one !== 'object' || one === null || !('score' in one)) return [];
    const { score } = one;
    const words = 'description' in one && typeof one.description === 'string' ? one.description : name;
    return isNumber(score) && score > MIN_SYMBOL_SCORE ? [{ words: plainDescription(words), score }] : [];
  });
  return all.toSorted((a, b) => b.score - a.score).slice(0, MAX_SYMBOLS);
}

function plainDescription(words: string): string {
  // The sender may read it in a reply, so it contains no link.
  const plain = words
    .slice(0, MAX_DESCRIPTION)
    .replace(/[^\x20-\x7e]/g, '?')
    .replaceAll('://', ' ');
  return plain.trim().replace(/\.$/, '') || 'a rule';
}

function describeSymbol({ words, score }: RspamdSymbol): string {
  return `${words} (${rounded(score)})`;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function rounded(number: number): number {
  return Math.round(number * 10) / 10;
}
