import type { PlainKey } from './message-types.ts';

/** A filter of Email/query. RFC 8621 4.4.1. */
export type SearchFilter = Record<string, unknown>;

const SIZE_UNITS: Readonly<Record<string, number>> = { k: 1_000, m: 1_000_000 };

/** Operators of the search field, each with its filter; undefined for a value that makes no sense. */
const OPERATORS: Readonly<Record<string, (value: string) => SearchFilter | undefined>> = {
  from: (value) => ({ from: value }),
  to: (value) => ({ to: value }),
  cc: (value) => ({ cc: value }),
  subject: (value) => ({ subject: value }),
  body: (value) => ({ body: value }),
  label: (value) => ({ hasKeyword: value.toLowerCase() }),
  before: (value) => dateFilter('before', value),
  after: (value) => dateFilter('after', value),
  larger: (value) => sizeFilter('minSize', value),
  smaller: (value) => sizeFilter('maxSize', value),
  has: (value) => (value === 'attachment' ? { hasAttachment: true } : undefined),
  is: (value) => STATES[value],
};

const STATES: Readonly<Record<string, SearchFilter>> = {
  unread: { notKeyword: '$seen' },
  read: { hasKeyword: '$seen' },
  starred: { hasKeyword: '$flagged' },
  answered: { hasKeyword: '$answered' },
  draft: { hasKeyword: '$draft' },
  snoozed: { hasKeyword: '$snoozed' },
};

/** Suggestions of the search field. */
export const SUGGESTED_OPERATORS: readonly (readonly [text: string, meaning: PlainKey])[] = [
  ['from:', 'search.from'],
  ['to:', 'search.to'],
  ['subject:', 'search.subject'],
  ['has:attachment', 'search.attachment'],
  ['is:unread', 'search.unread'],
  ['is:starred', 'search.starred'],
  ['before:2026-03-01', 'search.before'],
  ['after:2026-03-01', 'search.after'],
  ['larger:1m', 'search.larger'],
];

/** Parses a search: words and operators such as `from:ada before:2026-03-01 "exact words"`, all of which must match. Linear. */
export function searchFilter(text: string): SearchFilter {
  const words: string[] = [];
  const conditions: SearchFilter[] = [];
  for (const [, , operator, quoted, plain] of text.matchAll(/(^|\s)(?:([a-z]{2,8}):)?(?:"([^"]*)"|([^\s"]+))/g)) {
    const value = quoted ?? plain ?? '';
    const filter = operator === undefined ? undefined : OPERATORS[operator]?.(value);
    if (filter !== undefined) conditions.push(filter);
    else if (value !== '' || operator !== undefined) {
      const word = operator === undefined ? value : `${operator}:${value}`;
      words.push(quoted === undefined ? word : `"${word}"`);
    }
  }
  if (words.length > 0) conditions.push({ text: words.join(' ') });
  if (conditions.length === 0) return {};
  return conditions.length === 1 ? (conditions[0] ?? {}) : { operator: 'AND', conditions };
}

function dateFilter(name: 'before' | 'after', value: string): SearchFilter | undefined {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(`${value}T00:00:00`) : undefined;
  return at === undefined || Number.isNaN(at.getTime()) ? undefined : { [name]: at.toISOString() };
}

function sizeFilter(name: 'minSize' | 'maxSize', value: string): SearchFilter | undefined {
  const [, digits, unit = ''] = /^(\d{1,9})([km]?)$/.exec(value.toLowerCase()) ?? [];
  return digits === undefined ? undefined : { [name]: Number(digits) * (SIZE_UNITS[unit] ?? 1) };
}
