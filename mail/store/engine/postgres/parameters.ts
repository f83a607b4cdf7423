import { closingOf, type SqlToken, wordAt } from './tokens.ts';

// PostgreSQL infers the type of a parameter from its first use. Beside a small number it would be int4, too short for
// times and counters; behind CASE it would be text; before IS NULL it would be unknown.

export function isParameter(tokens: readonly SqlToken[], i: number): boolean {
  return tokens[i]?.text.startsWith('?') ?? false;
}

/** Reports `+ 0` behind a parameter, by which SQLite does not plan for its value. */
export function isAddedZero(tokens: readonly SqlToken[], i: number): boolean {
  return tokens[i]?.text === '+' && tokens[i + 1]?.text === '0' && isParameter(tokens, i - 1);
}

const OPERATORS = new Set(['=', '<>', '<', '>', '<=', '>=', '+', '-', '*', 'WHEN']);

/** Reports a whole number behind a parameter, which gets the number's type. */
export function isNumberOfParameter(tokens: readonly SqlToken[], i: number): boolean {
  return isWhole(tokens, i) && OPERATORS.has(wordAt(tokens, i - 1)) && isParameter(tokens, i - 2);
}

/** Reports a parameter that a CASE compares with whole numbers. */
export function isNumberInCase(tokens: readonly SqlToken[], i: number): boolean {
  return wordAt(tokens, i - 1) === 'CASE' && wordAt(tokens, i + 1) === 'WHEN' && isWhole(tokens, i + 2);
}

function isWhole(tokens: readonly SqlToken[], i: number): boolean {
  return /^\d+$/.test(tokens[i]?.text ?? '');
}

/** Writes `($1 IS NULL OR x = $1)` as `(x = $1 OR $1 IS NULL)`. */
export function typedFirst(tokens: readonly SqlToken[]): SqlToken[] {
  const out = [...tokens];
  for (let i = 0; i < out.length; i++) {
    if (!isNullTest(out, i + 1) || out[i]?.text !== '(' || wordAt(out, i + 4) !== 'OR') continue;
    const test = out.slice(i + 1, i + 4).map((token) => ({ ...token, space: ' ' }));
    const rest = out.slice(i + 5, closingOf(out, i));
    out.splice(i + 1, rest.length + 4, ...rest, { space: ' ', text: 'OR' }, ...test);
  }
  return out;
}

function isNullTest(tokens: readonly SqlToken[], i: number): boolean {
  return /^\$\d/.test(tokens[i]?.text ?? '') && wordAt(tokens, i + 1) === 'IS' && wordAt(tokens, i + 2) === 'NULL';
}
