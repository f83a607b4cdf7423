import type { Term } from '../../message/search-terms.ts';

/** Where full text is looked for. RFC 8621 4.4.1. */
export type TextColumn = 'subject' | 'from_' | 'to_' | 'cc_' | 'bcc_' | 'body' | 'attach';

/** One condition of a filter as plain data that may cross a thread. */
export type Condition =
  /** Ids of mailboxes as rows; 0 is one that does not exist. */
  | { test: 'in-mailbox'; mailbox: number }
  | { test: 'in-other-than'; mailboxes: ReadonlySet<number> }
  /** receivedAt, ms UTC: before it, or at it and after. */
  | { test: 'before' | 'after'; at: number }
  /** Octets: at least so many, or fewer. */
  | { test: 'min-size' | 'max-size'; octets: number }
  /** In lower case. */
  | { test: 'keyword'; keyword: string }
  | { test: 'thread-keyword'; has: 'all' | 'some' | 'none'; keyword: string }
  | { test: 'attachment'; has: boolean }
  /** All terms in these columns together; null: in any. */
  | { test: 'text'; columns: readonly TextColumn[] | null; terms: readonly Term[] }
  /** Field in lower case; null: it is there. */
  | { test: 'header'; field: string; text: string | null };

/** RFC 8620 5.5: `not` is true where none of its conditions is. */
export interface Operator {
  op: 'and' | 'or' | 'not';
  of: readonly Filter[];
}

export type Filter = Operator | Condition;

export const EVERYTHING: Filter = { op: 'and', of: [] };

export const isOperator = (filter: Filter): filter is Operator => 'op' in filter;

/** What must be true of every email that the filter lets through. */
export function necessary(filter: Filter): Condition[] {
  if (!isOperator(filter)) return [filter];
  return filter.op === 'and' ? filter.of.flatMap(necessary) : [];
}

/** All conditions, wherever they stand. */
export function conditionsOf(filter: Filter): Condition[] {
  return isOperator(filter) ? filter.of.flatMap(conditionsOf) : [filter];
}

/** Needs the full-text index. */
export function searchesText(filter: Filter): boolean {
  return conditionsOf(filter).some(({ test }) => test === 'text');
}

const FIXED: ReadonlySet<Condition['test']> = new Set([
  'before',
  'after',
  'min-size',
  'max-size',
  'attachment',
  'text',
  'header',
]);

/** Whether it asks for nothing that can change while an email exists. */
export function isFixed(filter: Filter): boolean {
  return conditionsOf(filter).every(({ test }) => FIXED.has(test));
}

/** The one mailbox that a filter consists of. */
export function onlyMailbox(filter: Filter): number | undefined {
  const [only, ...more] = necessary(filter);
  const whole = conditionsOf(filter).length === 1 && more.length === 0;
  return whole && only?.test === 'in-mailbox' ? only.mailbox : undefined;
}
