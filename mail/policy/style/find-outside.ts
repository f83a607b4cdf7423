const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * Returns the offset of the first of these characters outside of strings, comments, URLs and brackets; the text length for
 * none. An unclosed construct extends to the end, as in browsers. CSS Syntax 3, 4 and 5.
 */
export function findOutside(css: string, from: number, signs: string): number {
  const open: string[] = [];
  for (let at = from; at < css.length; at++) {
    const sign = css[at] ?? '';
    if (open.length === 0 && signs.includes(sign)) return at;
    if (sign === '\\') at += 1;
    else if (sign === '/' && css[at + 1] === '*') at = endOf(css, '*/', at + 2);
    else if (sign === '"' || sign === "'") at = stringEnd(css, at);
    else if (sign === '(' && isUnquotedUrl(css, at)) at = endOf(css, ')', at + 1);
    else if (CLOSING[sign] !== undefined) open.push(CLOSING[sign]);
    else if (sign === open.at(-1)) open.pop();
  }
  return css.length;
}

/** Returns the offset of the last character of a string. A line end ends it too. */
function stringEnd(css: string, from: number): number {
  for (let at = from + 1; at < css.length; at++) {
    if (css[at] === '\\') at += 1;
    else if (css[at] === css[from] || css[at] === '\n') return at;
  }
  return css.length;
}

/** True for `url(` without quotes, where these characters have no meaning. */
function isUnquotedUrl(css: string, at: number): boolean {
  return /url$/i.test(css.slice(Math.max(0, at - 3), at)) && !/^\s{0,9}["']/.test(css.slice(at + 1, at + 11));
}

/** Returns the offset of the last character of `end`. */
function endOf(css: string, end: string, from: number): number {
  const at = css.indexOf(end, from);
  return at < 0 ? css.length : at + end.length - 1;
}
