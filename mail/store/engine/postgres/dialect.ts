import {
  castsOf,
  hintLength,
  isOrderedJoin,
  isUnaryPlus,
  namelessSubqueries,
  withArrays,
  withLookups,
} from './clauses.ts';
import { withFilters, withOrder } from './joins.ts';
import { isAddedZero, isNumberInCase, isNumberOfParameter, isParameter, typedFirst } from './parameters.ts';
import { type SqlToken, sqlText, sqlTokens, wordAt } from './tokens.ts';

/**
 * Translates a statement of the common subset from SQLite's dialect to PostgreSQL's. The same text always has the same
 * result. What functions and operators can express is in functions.sql instead.
 */
export function toPostgres(sql: string): string {
  return sqlText(translated(withOrder(withFilters(sqlTokens(sql)))));
}

/** Tokens of a statement, or of a part of the schema, in PostgreSQL's dialect. */
export function translated(source: readonly SqlToken[]): SqlToken[] {
  const tokens = withArrays(withLookups(source));
  const { calls, dropped } = castsOf(tokens);
  const nameless = namelessSubqueries(tokens);
  const out: SqlToken[] = [];
  let parameters = 0;
  for (let i = 0; i < tokens.length; i++) {
    const { space, text } = tokens[i] as SqlToken;
    const skipped = isAddedZero(tokens, i) ? 2 : hintLength(tokens, i);
    if (skipped > 0) i += skipped - 1;
    else if (isParameter(tokens, i)) {
      parameters = text === '?' ? parameters + 1 : Number(text.slice(1));
      out.push({ space, text: `$${parameters}${isNumberInCase(tokens, i) ? '::bigint' : ''}` });
    } else if (!dropped.has(i)) out.push({ space, text: calls.get(i) ?? translatedWord(tokens, i) });
    if (nameless.has(i)) out.push({ space: ' ', text: `AS subquery_${i}` });
  }
  return typedFirst(out);
}

/** Types, in capitals: there are tables and columns named blob and text. */
const TYPES: Readonly<Record<string, string>> = { INTEGER: 'bigint', BLOB: 'bytea', REAL: 'double precision' };

const WORDS: Readonly<Record<string, string>> = {
  IFNULL: 'coalesce',
  JSON_OBJECT: 'json_build_object',
  // SQLite ignores the case of ASCII letters.
  LIKE: 'ILIKE',
};

/** Names of tables and columns that PostgreSQL reserves. */
const RESERVED = new Set(['USER', 'ONLY', 'SESSION_USER']);

function translatedWord(tokens: readonly SqlToken[], i: number): string {
  const { text } = tokens[i] as SqlToken;
  const word = text.toUpperCase();
  if (isUnaryPlus(tokens, i) || isOrderedJoin(tokens, i)) return '';
  if (isNumberOfParameter(tokens, i)) return `${text}::bigint`;
  // LIMIT -1: SQLite has no OFFSET without a limit.
  if (wordAt(tokens, i - 1) === 'LIMIT' && text === '-') return 'ALL';
  if (wordAt(tokens, i - 2) === 'LIMIT' && wordAt(tokens, i - 1) === '-') return '';
  if (word.startsWith("X'")) return `'\\x${text.slice(2, -1)}'::bytea`;
  // PostgreSQL folds a name to lower case unless it is quoted.
  if (RESERVED.has(word) || (/^[a-z_]/.test(text) && /[A-Z]/.test(text))) return `"${text}"`;
  return comparison(tokens, i) ?? TYPES[text] ?? WORDS[word] ?? text;
}

const AFTER_IS = new Set(['NULL', 'TRUE', 'FALSE', 'DISTINCT', 'NOT']);

/** `IS x` and `IS NOT x`, which compare any values in SQLite. */
function comparison(tokens: readonly SqlToken[], i: number): string | undefined {
  if (AFTER_IS.has(wordAt(tokens, i + 1))) return undefined;
  if (wordAt(tokens, i) === 'IS') return 'IS NOT DISTINCT FROM';
  return wordAt(tokens, i) === 'NOT' && wordAt(tokens, i - 1) === 'IS' ? 'DISTINCT FROM' : undefined;
}
