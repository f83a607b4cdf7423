/** Parsed Authentication-Results field. Words are in lower case. */
export interface AuthenticationResults {
  /** authserv-id: the server that wrote it. */
  authserv: string;
  /** Methods with results, in order and without properties; empty for `none`. */
  results: { method: string; result: string }[];
}

type Token = { kind: 'word'; text: string } | { kind: ';' } | { kind: '=' };

const BLANKS = /[\s\0]+/y;
const WORD = /[^\s();="]+/y;

/** Methods read of one field. */
const MAX_RESULTS = 100;

/**
 * Parses the value of an Authentication-Results field, past comments, quotes and folds, as forgers use unusual syntax.
 * Undefined without an authserv-id. Linear in the length. RFC 8601 2.2.
 */
export function readAuthenticationResults(value: string): AuthenticationResults | undefined {
  const tokens = tokensOf(value);
  const { value: first } = tokens.next();
  if (first === undefined || !('text' in first)) return undefined;
  const results: AuthenticationResults['results'] = [];
  // `method [/ version] = result`, then properties up to the next semicolon.
  let want: 'semicolon' | 'method' | 'equals' | 'result' = 'semicolon';
  let method = '';
  for (const token of tokens) {
    if (token.kind === ';') want = 'method';
    else if (token.kind === '=') want = want === 'equals' ? 'result' : 'semicolon';
    else if (want === 'method') {
      method = token.text.toLowerCase().split('/', 1)[0] ?? '';
      want = 'equals';
    } else if (want === 'result') {
      if (results.length < MAX_RESULTS) results.push({ method, result: token.text.toLowerCase() });
      want = 'semicolon';
    }
  }
  return { authserv: first.text.toLowerCase(), results };
}

function* tokensOf(text: string): Generator<Token, undefined> {
  for (let at = 0; at < text.length;) {
    const char = text[at] ?? '';
    if (char === '(') at = commentEnd(text, at);
    else if (char === '"') {
      const end = quoteEnd(text, at);
      yield { kind: 'word', text: text.slice(at + 1, end - 1).replace(/\\(.)/gs, '$1') };
      at = end;
    } else if (char === ';' || char === '=') {
      yield char === ';' ? { kind: ';' } : { kind: '=' };
      at += 1;
    } else {
      BLANKS.lastIndex = WORD.lastIndex = at;
      const blanks = BLANKS.exec(text)?.[0];
      const word = blanks === undefined ? WORD.exec(text)?.[0] : undefined;
      if (word !== undefined) yield { kind: 'word', text: word };
      at += (blanks ?? word ?? char).length;
    }
  }
  return undefined;
}

/** Index after the comment. Nesting is counted, not recursive; an unclosed comment takes the rest. */
function commentEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === '(') depth += 1;
    else if (char === ')' && --depth === 0) return at + 1;
  }
  return text.length;
}

function quoteEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length + 1;
}
