import type { SearchTerm } from '../../message/search-terms.ts';

/** Columns of the full-text index. RFC 8621 4.4.1. */
export type TextColumn = 'subject' | 'from_' | 'to_' | 'cc_' | 'bcc_' | 'body' | 'attach';

/** A filter condition as plain data, so that it can be sent to a thread. */
export type EmailCondition =
  /** Mailbox rows; 0 for an unknown id. */
  | { test: 'in-mailbox'; mailbox: number }
  | { test: 'in-other-than'; mailboxes: ReadonlySet<number> }
  /** receivedAt, ms UTC: `at` is exclusive for before, inclusive for after. */
  | { test: 'before' | 'after'; at: number }
  /** Octets: inclusive minimum, or exclusive maximum. */
  | { test: 'min-size' | 'max-size'; octets: number }
  /** In lower case. */
  | { test: 'keyword'; keyword: string }
  | { test: 'thread-keyword'; has: 'all' | 'some' | 'none'; keyword: string }
  | { test: 'attachment'; has: boolean }
  /** All terms must occur in these columns; null for all columns. */
  | { test: 'text'; columns: readonly TextColumn[] | null; terms: readonly SearchTerm[] }
  /** Field in lower case; null text tests for existence. */
  | { test: 'header'; field: string; text: string | null };

/** A filter operator; `not` matches if no condition matches. RFC 8620 5.5. */
export interface EmailFilterOperator {
  op: 'and' | 'or' | 'not';
  of: readonly EmailFilter[];
}

export type EmailFilter = EmailFilterOperator | EmailCondition;

export const MATCH_ALL: EmailFilter = { op: 'and', of: [] };

export const isOperator = (filter: EmailFilter): filter is EmailFilterOperator => 'op' in filter;

/** Conditions that every matching email fulfills. */
export function necessaryConditions(filter: EmailFilter): EmailCondition[] {
  if (!isOperator(filter)) return [filter];
  return filter.op === 'and' ? filter.of.flatMap(necessaryConditions) : [];
}

/** All conditions of a filter, at any depth. */
export function conditionsOf(filter: EmailFilter): EmailCondition[] {
  return isOperator(filter) ? filter.of.flatMap(conditionsOf) : [filter];
}

/** Checks whether the filter needs the full-text index. */
export function searchesText(filter: EmailFilter): boolean {
  return conditionsOf(filter).some(({ test }) => test === 'text');
}

const FIXED: ReadonlySet<EmailCondition['test']> = new Set([
  'before',
  'after',
  'min-size',
  'max-size',
  'attachment',
  'text',
  'header',
]);

/** Checks that the result cannot change while an email exists. */
export function isFixed(filter: EmailFilter): boolean {
  return conditionsOf(filter).every(({ test }) => FIXED.has(test));
}

/** The mailbox of a filter with inMailbox as its only condition. */
export function onlyMailbox(filter: EmailFilter): number | undefined {
  const [only, ...more] = necessaryConditions(filter);
  const whole = conditionsOf(filter).length === 1 && more.length === 0;
  return whole && only?.test === 'in-mailbox' ? only.mailbox : undefined;
}
