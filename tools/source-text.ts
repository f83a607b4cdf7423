/** The kinds of text in a TypeScript source. */
export interface SourceText {
  comments: SourcePiece[];
  /** String and template literals, without their quotes. */
  strings: SourcePiece[];
  /** Regular expression literals, with slashes and flags. */
  expressions: SourcePiece[];
  /** The source with comments and literals blanked out; line numbers are unchanged. */
  code: string;
}

export interface SourcePiece {
  text: string;
  /** Counted from 1. */
  line: number;
}

const TOKEN = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`|\/(?![*/])|[{}]/g;
/** A slash after one of these begins a regular expression, else it divides. */
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|of|in|await|throw|else))\s*$/;
const REGEX_LITERAL = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;

/** Splits a source into comments, literals and code. A scanner, not a parser: nested templates are followed, types are not. */
export function splitSource(source: string): SourceText {
  const found: SourceText = { comments: [], strings: [], expressions: [], code: '' };
  const templates: number[] = []; // depth of braces at which each open template goes on
  let depth = 0;
  let at = 0;
  const lineAt = lineCounter(source);
  const blank = (end: number): void => {
    found.code += source.slice(at, end).replaceAll(/[^\n]/g, ' ');
    at = end;
  };
  const template = (start: number): void => {
    const end = templateEnd(source, start);
    found.strings.push({ text: source.slice(start, end.at), line: lineAt(start) });
    blank(end.next);
    TOKEN.lastIndex = at;
    if (end.opens) templates.push(depth);
  };
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(source); match !== null; match = TOKEN.exec(source)) {
    const [token] = match;
    found.code += source.slice(at, match.index);
    at = match.index;
    if (token === '{') depth++;
    else if (token === '}' && templates.at(-1) === depth) {
      templates.pop();
      template(match.index + 1);
    } else if (token === '}') depth--;
    else if (token === '`') template(match.index + 1);
    else if (token === '/') {
      if (!BEFORE_REGEX.test(found.code.slice(-40))) continue;
      REGEX_LITERAL.lastIndex = match.index;
      const literal = REGEX_LITERAL.exec(source);
      if (literal === null) continue;
      found.expressions.push({ text: literal[0], line: lineAt(match.index) });
      blank(match.index + literal[0].length);
      TOKEN.lastIndex = at;
    } else {
      const piece = { text: token, line: lineAt(match.index) };
      if (token.startsWith('/')) found.comments.push(piece);
      else found.strings.push({ ...piece, text: token.slice(1, -1) });
      blank(match.index + token.length);
    }
  }
  found.code += source.slice(at);
  return found;
}

function templateEnd(source: string, start: number): { at: number; next: number; opens: boolean } {
  for (let at = start; at < source.length; at++) {
    if (source[at] === '\\') at++;
    else if (source[at] === '`') return { at, next: at + 1, opens: false };
    else if (source.startsWith('${', at)) return { at, next: at + 2, opens: true };
  }
  return { at: source.length, next: source.length, opens: false };
}

function lineCounter(source: string): (offset: number) => number {
  let counted = 0;
  let line = 1;
  return (offset) => {
    for (; counted < offset; counted++) if (source[counted] === '\n') line++;
    return line;
  };
}
