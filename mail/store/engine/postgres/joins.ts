import { hintLength, isOrderedJoin } from './clauses.ts';
import { closingOf, type SqlToken, sqlTokens, wordAt } from './tokens.ts';

/** Words that end the condition of a join. */
const AFTER_CONDITION =
  /^(?:JOIN|LEFT|CROSS|WHERE|GROUP|ORDER|LIMIT|OFFSET|UNION|EXCEPT|HAVING|WINDOW|RETURNING|[),;]|)$/;

/**
 * Writes `CROSS JOIN table ON condition`, by which SQLite keeps the order of the tables, as a lookup for each row of the
 * tables before it. PostgreSQL may begin a join at either end: where it believes a table to be nearly empty, since it was
 * when its rows were last counted, it would read all rows of the table for each row of another. Conditions of WHERE are no
 * part of the lookup: one that an index serves belongs behind ON.
 */
export function withOrder(tokens: readonly SqlToken[]): readonly SqlToken[] {
  const at = tokens.findIndex((_, i) => isOrderedJoin(tokens, i) && isTable(tokens, i + 2));
  if (at < 0) return tokens;
  const [table, alias] = [tokens[at + 2]?.text ?? '', nameOf(tokens, at + 2)];
  let on = at + 3;
  while (wordAt(tokens, on) !== 'ON') on += Math.max(1, hintLength(tokens, on));
  const end = endOfCondition(tokens, on + 1);
  return [
    ...tokens.slice(0, at),
    ...sqlTokens(` JOIN LATERAL (SELECT * FROM ${table} ${alias} WHERE`),
    ...withOrder(tokens.slice(on + 1, end)),
    ...sqlTokens(` OFFSET 0) ${alias} ON true`),
    ...withOrder(tokens.slice(end)),
  ];
}

/** Reports a table or a view, and no function or subquery. */
function isTable(tokens: readonly SqlToken[], at: number): boolean {
  return tokens[at]?.text !== '(' && tokens[at + 1]?.text !== '(';
}

/** Name of a table in its statement. */
function nameOf(tokens: readonly SqlToken[], at: number): string {
  const next = wordAt(tokens, at + 1);
  if (next === 'AS') return tokens[at + 2]?.text ?? '';
  const isBare = next === 'ON' || hintLength(tokens, at + 1) > 0;
  return tokens[isBare ? at : at + 1]?.text ?? '';
}

function endOfCondition(tokens: readonly SqlToken[], from: number): number {
  let at = from;
  while (!AFTER_CONDITION.test(wordAt(tokens, at))) at = tokens[at]?.text === '(' ? closingOf(tokens, at) + 1 : at + 1;
  return at;
}

/** Words by which a subquery has an end of its own. */
const SUBQUERY = new Set(['SELECT', 'WITH']);

/**
 * Keeps `EXISTS (SELECT ...)` a condition that is looked up for each row. PostgreSQL may make a join of it, which begins with
 * all rows of the subquery.
 */
export function withFilters(tokens: readonly SqlToken[]): readonly SqlToken[] {
  const ends = new Set<number>();
  for (let i = 0; i < tokens.length; i++) {
    if (wordAt(tokens, i) !== 'EXISTS' || !SUBQUERY.has(wordAt(tokens, i + 2))) continue;
    const end = closingOf(tokens, i + 1);
    if (wordAt(tokens, end - 2) !== 'OFFSET') ends.add(end);
  }
  return tokens.flatMap((token, i) => (ends.has(i) ? [...sqlTokens(' OFFSET 0'), token] : [token]));
}
