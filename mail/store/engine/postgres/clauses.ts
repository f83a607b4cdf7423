import { closingOf, type SqlToken, wordAt } from './tokens.ts';

/** Number of tokens of an index hint at `i`, which PostgreSQL does not have; 0: there is none. */
export function hintLength(tokens: readonly SqlToken[], i: number): number {
  if (wordAt(tokens, i) === 'INDEXED' && wordAt(tokens, i + 1) === 'BY') return 3;
  return wordAt(tokens, i) === 'NOT' && wordAt(tokens, i + 1) === 'INDEXED' ? 2 : 0;
}

const BEFORE_OPERAND = new Set(['WHERE', 'AND', 'OR', 'ON', 'BY', 'NOT', '(', ',']);

/** Reports a plus sign without effect, by which a statement keeps SQLite from using an index. */
export function isUnaryPlus(tokens: readonly SqlToken[], i: number): boolean {
  return tokens[i]?.text === '+' && BEFORE_OPERAND.has(wordAt(tokens, i - 1)) && /^[A-Z]/.test(wordAt(tokens, i + 1));
}

/** Words that end the table of a join; ON among them makes it a join with a condition. */
const AFTER_TABLE = new Set(['ON', 'JOIN', 'WHERE', 'LEFT', 'CROSS', 'GROUP', 'ORDER', 'LIMIT', 'UNION', ')', '']);

/** Reports a CROSS JOIN with a condition, by which SQLite keeps the order of the tables; PostgreSQL allows none. */
export function isOrderedJoin(tokens: readonly SqlToken[], i: number): boolean {
  if (wordAt(tokens, i) !== 'CROSS') return false;
  for (let at = i + 2; ; at++) {
    if (tokens[at]?.text === '(') at = closingOf(tokens, at) + 1;
    if (AFTER_TABLE.has(wordAt(tokens, at))) return wordAt(tokens, at) === 'ON';
  }
}

const SUBQUERY = new Set(['SELECT', 'WITH', 'VALUES']);
/** Words that follow a subquery in FROM without a name of its own. */
const NO_NAME = /^(?:WHERE|GROUP|ORDER|LIMIT|ON|JOIN|LEFT|CROSS|UNION|EXCEPT|HAVING|WINDOW|RETURNING|[),]|)$/;

/** Ends of the subqueries in FROM without a name, which PostgreSQL 15 requires. */
export function namelessSubqueries(tokens: readonly SqlToken[]): Set<number> {
  const found = new Set<number>();
  for (let i = 1; i < tokens.length; i++) {
    const isSource = tokens[i]?.text === '(' && ['FROM', 'JOIN'].includes(wordAt(tokens, i - 1));
    if (!isSource || !SUBQUERY.has(wordAt(tokens, i + 1))) continue;
    const end = closingOf(tokens, i);
    if (NO_NAME.test(wordAt(tokens, end + 1))) found.add(end);
  }
  return found;
}

/** Casts that become calls: PostgreSQL's own cast of octets to text writes them in hex. */
const CAST_CALLS: Readonly<Record<string, string>> = { TEXT: 'as_text', BLOB: 'as_octets' };

/** Functions of casts by the position of CAST, and the positions of AS and of the type, which are dropped. */
export function castsOf(tokens: readonly SqlToken[]): { calls: Map<number, string>; dropped: Set<number> } {
  const calls = new Map<number, string>();
  const dropped = new Set<number>();
  for (let i = 0; i < tokens.length; i++) {
    if (wordAt(tokens, i) !== 'CAST') continue;
    const end = closingOf(tokens, i + 1);
    const call = CAST_CALLS[tokens[end - 1]?.text ?? ''];
    if (call === undefined) continue;
    calls.set(i, call);
    dropped.add(end - 1).add(end - 2);
  }
  return { calls, dropped };
}
