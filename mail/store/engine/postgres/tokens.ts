/** A token of SQL and the white space before it. */
export interface SqlToken {
  space: string;
  text: string;
}

const TOKEN = /(\s*)(--[^\n]*|[xX]'[0-9a-fA-F]*'|'(?:[^']|'')*'|"[^"]*"|\?\d*|\w+(?:\.\d+)?|->>?|<>|[<>!=]=|\|\||.)/gsy;

/** Splits SQL into tokens; comments are dropped. Linear in the length of the text. */
export function sqlTokens(sql: string): SqlToken[] {
  const tokens: SqlToken[] = [];
  let space = '';
  for (const [, before = '', text = ''] of sql.trimEnd().matchAll(TOKEN)) {
    space += before;
    if (text.startsWith('--')) continue;
    tokens.push({ space, text });
    space = '';
  }
  return tokens;
}

export function sqlText(tokens: readonly SqlToken[]): string {
  return tokens
    .map(({ space, text }) => space + text)
    .join('')
    .trim();
}

/** Token `i` in upper case; '' past either end. */
export function wordAt(tokens: readonly SqlToken[], i: number): string {
  return tokens[i]?.text.toUpperCase() ?? '';
}

/** Position of the parenthesis that closes the one at `open`. Throws if there is none. */
export function closingOf(tokens: readonly SqlToken[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    if (tokens[i]?.text === '(') depth++;
    else if (tokens[i]?.text === ')' && --depth === 0) return i;
  }
  throw new Error('SQL with an open parenthesis');
}
