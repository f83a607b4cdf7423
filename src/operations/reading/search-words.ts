import type { EmailFilter, TextColumn } from '../../../mail/jmap/email-query/email-filter.ts';
import { readTerms } from '../../../mail/message/search-terms.ts';
import { refuse } from '../../core/refusal.ts';

/** A parsed search, and its folder. */
export interface Search {
  filter: EmailFilter;
  folder: string | undefined;
}

const WORDS = /(-?)([a-z]{2,10}):("[^"]{0,300}"|\S{1,300})|"[^"]{0,300}"|\S{1,300}/gi;

const COLUMNS: Readonly<Record<string, readonly TextColumn[]>> = {
  from: ['from_'],
  to: ['to_'],
  cc: ['cc_'],
  subject: ['subject'],
  body: ['body', 'attach'],
};

const STATES: Readonly<Record<string, EmailFilter>> = {
  unread: { op: 'not', of: [{ test: 'keyword', keyword: '$seen' }] },
  read: { test: 'keyword', keyword: '$seen' },
  starred: { test: 'keyword', keyword: '$flagged' },
  answered: { test: 'keyword', keyword: '$answered' },
};

/** Parses `from:anna subject:"the plan" has:attachment before:2026-01-31 words`; a leading minus negates a term. */
export function readSearch(query: string): Search {
  const of: EmailFilter[] = [];
  const free: string[] = [];
  let folder: string | undefined;
  for (const [whole, minus, name, written] of query.matchAll(WORDS)) {
    const field = name?.toLowerCase() ?? '';
    const value = written?.replace(/^"|"$/g, '') ?? '';
    if (field === 'in') folder = value;
    else {
      const term = name === undefined ? undefined : termOf(field, value);
      if (term === undefined && /^-./.test(whole)) of.push({ op: 'not', of: [words(whole.slice(1), null)] });
      else if (term === undefined) free.push(whole);
      else of.push(minus === '-' ? { op: 'not', of: [term] } : term);
    }
  }
  if (free.length > 0) of.push(words(free.join(' '), null));
  return { filter: { op: 'and', of }, folder };
}

/** Undefined: not an operator, so treated as words. */
function termOf(field: string, value: string): EmailFilter | undefined {
  const columns = Object.hasOwn(COLUMNS, field) ? COLUMNS[field] : undefined;
  if (columns !== undefined) return words(value, columns);
  const word = value.toLowerCase();
  switch (field) {
    case 'is':
      return Object.hasOwn(STATES, word) ? STATES[word] : wrong(`is:${word}`);
    case 'has':
      return word === 'attachment' ? { test: 'attachment', has: true } : wrong(`has:${word}`);
    case 'label':
      return { test: 'keyword', keyword: word };
    case 'before':
      return { test: 'before', at: time(field, value) };
    case 'after':
    case 'since':
      return { test: 'after', at: time(field, value) };
    default:
      return undefined;
  }
}

/** Words that must all be in these columns; null: in any. */
export function words(text: string, columns: readonly TextColumn[] | null): EmailFilter {
  const terms = readTerms(text);
  if (terms === undefined) return wrong('too many words');
  // Punctuation alone is in no index.
  return terms.length === 0 ? { op: 'or', of: [] } : { test: 'text', columns, terms };
}

function time(field: string, value: string): number {
  const at = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]{5,12}Z)?$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? wrong(`${field}: with a date that is not like 2026-01-31`) : at;
}

function wrong(what: string): never {
  return refuse(
    'invalid_arguments',
    `Unsupported in a search: ${what.slice(0, 60)}. Supported: from: to: cc: subject: body: in: label: has:attachment is:unread is:read is:starred before:2026-01-31 after:2026-01-31, and words.`,
    { issues: [{ path: 'query', message: 'is not supported' }] },
  );
}
