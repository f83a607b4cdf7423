import { domainToASCII } from 'node:url';
import { isDnsName } from '../dns/name.ts';

/** Highest count of one row: a larger one is a mistake, or meant to drown others. */
export const MAX_COUNT = 1_000_000_000;
const MAX_TEXT = 100;

/** Text of a scalar value; '' for anything else. */
export function scalarText(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.trim() : '';
}

/** Cleans a stranger's name to letters, digits and plain punctuation in one line. */
export function cleanReportText(value: unknown): string {
  return scalarText(value)
    .slice(0, 4 * MAX_TEXT)
    .replace(/[^\p{L}\p{N} .,:&@()_+=/-]+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, MAX_TEXT)
    .toWellFormed();
}

/** Returns a domain in lower case as A-labels; '' if the value is none. */
export function domainText(value: unknown): string {
  const text = scalarText(value);
  if (text.length > 253) return '';
  const name = domainToASCII(text.replace(/\.$/, ''));
  return /^[a-z0-9._-]+$/.test(name) && isDnsName(name) ? name : '';
}

/** Returns a whole number from 0 on; undefined if the value is none. Some reporters write counts as text. */
export function countOf(value: unknown): number | undefined {
  const number = Number(scalarText(value) || Number.NaN);
  return Number.isFinite(number) && number >= 0 ? Math.min(Math.floor(number), MAX_COUNT) : undefined;
}

/** Keeps the largest of many distinct sums apart; `combine` strips the rest of what makes them distinct. */
export function boundedSums<Sum extends object>(
  all: Map<string, Sum>,
  most: number,
  by: { count: (sum: Sum) => number; add: (sum: Sum, count: number) => void; combine: (sum: Sum) => Sum },
): Sum[] {
  if (all.size <= most) return [...all.values()];
  const sorted = [...all.values()].toSorted((a, b) => by.count(b) - by.count(a));
  const rest = new Map<string, Sum>();
  for (const sum of sorted.slice(most)) {
    const combined = by.combine(sum);
    const key = JSON.stringify({ ...combined, messages: 0, sessions: 0 });
    const there = rest.get(key);
    if (there === undefined) rest.set(key, combined);
    else by.add(there, by.count(sum));
  }
  return [...sorted.slice(0, most), ...rest.values()];
}
