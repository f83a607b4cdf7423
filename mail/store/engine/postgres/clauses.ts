import { closingOf, type SqlToken, sqlTokens, wordAt } from './tokens.ts';

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

/** The view of messages, which joins tables itself. */
const VIEW = 'EMAIL_META';

/**
 * Joins the view of messages by a lookup of each row. PostgreSQL joins in the order of the text, so it would join all rows of
 * the view first.
 */
export function withLookups(tokens: readonly SqlToken[]): readonly SqlToken[] {
  const at = tokens.findIndex((_, i) => isViewJoin(tokens, i));
  if (at < 0) return tokens;
  const [view, alias, , , , column, , ...to] = tokens.slice(at + 1, at + 11);
  const lookup = `LATERAL (SELECT * FROM ${view?.text} WHERE ${column?.text} = ${to.map(({ text }) => text).join('')} OFFSET 0)`;
  const rest = withLookups(tokens.slice(at + 11));
  return [...tokens.slice(0, at + 1), ...sqlTokens(` ${lookup} ${alias?.text} ON true`), ...rest];
}

/** Reports `JOIN view alias ON alias.column = table.column` at `i`. */
function isViewJoin(tokens: readonly SqlToken[], i: number): boolean {
  if (wordAt(tokens, i) !== 'JOIN' || wordAt(tokens, i + 1) !== VIEW || wordAt(tokens, i + 3) !== 'ON') return false;
  return wordAt(tokens, i + 4) === wordAt(tokens, i + 2) && tokens[i + 7]?.text === '=' && tokens[i + 9]?.text === '.';
}

/**
 * Writes `IN (SELECT value FROM json_each(...))` as a comparison with an array, which PostgreSQL looks up by an index also
 * in a view and beside outer joins.
 */
export function withArrays(tokens: readonly SqlToken[]): readonly SqlToken[] {
  const out: SqlToken[] = [];
  const ends = new Set<number>();
  for (const [i, token] of tokens.entries()) {
    const end = isListOfValues(tokens, i) ? closingOf(tokens, i + 1) : undefined;
    if (end !== undefined) ends.add(end);
    out.push(...(end === undefined ? [token] : sqlTokens(`${token.space}= ANY (ARRAY`)));
    if (ends.has(i)) out.push({ space: '', text: ')' });
  }
  return out;
}

function isListOfValues(tokens: readonly SqlToken[], i: number): boolean {
  if (wordAt(tokens, i) !== 'IN' || wordAt(tokens, i - 1) === 'NOT') return false;
  const words = [1, 2, 3, 4, 5].map((n) => wordAt(tokens, i + n)).join(' ');
  return words === '( SELECT VALUE FROM JSON_EACH' && closingOf(tokens, i + 6) + 1 === closingOf(tokens, i + 1);
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
