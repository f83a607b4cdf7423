const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * Where the first of these signs stands outside of strings, notes, addresses and brackets; the length of the text: nowhere.
 * What is left open goes to the end, as browsers have it. CSS Syntax 3, 4 and 5.
 */
export function nextOutside(css: string, from: number, signs: string): number {
  const open: string[] = [];
  for (let at = from; at < css.length; at++) {
    const sign = css[at] ?? '';
    if (open.length === 0 && signs.includes(sign)) return at;
    if (sign === '\\') at += 1;
    else if (sign === '/' && css[at + 1] === '*') at = past(css, '*/', at + 2);
    else if (sign === '"' || sign === "'") at = stringEnd(css, at);
    else if (sign === '(' && isAddress(css, at)) at = past(css, ')', at + 1);
    else if (CLOSING[sign] !== undefined) open.push(CLOSING[sign]);
    else if (sign === open.at(-1)) open.pop();
  }
  return css.length;
}

/** The last character of a string. A line end ends it too. */
function stringEnd(css: string, from: number): number {
  for (let at = from + 1; at < css.length; at++) {
    if (css[at] === '\\') at += 1;
    else if (css[at] === css[from] || css[at] === '\n') return at;
  }
  return css.length;
}

/** In `url(` without quotes these are signs like others. */
function isAddress(css: string, at: number): boolean {
  return /url$/i.test(css.slice(Math.max(0, at - 3), at)) && !/^\s{0,9}["']/.test(css.slice(at + 1, at + 11));
}

/** Behind the last character of this. */
function past(css: string, end: string, from: number): number {
  const at = css.indexOf(end, from);
  return at < 0 ? css.length : at + end.length - 1;
}
