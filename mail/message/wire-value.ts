/** One value of ENVELOPE or BODYSTRUCTURE: NIL, a string or number as text, or a list. */
export type WireValue = null | string | readonly WireValue[];

/** Nesting; stored structures are far below it. */
const MAX_NESTING = 200;

/** Parses the output of envelope.ts and body-structure.ts up to {@link MAX_NESTING} levels; lenient on anything else. RFC 3501 7.4.2. */
export function readWire(text: string): WireValue {
  const root: WireValue[] = [];
  // Open lists, outermost first; avoids recursion.
  const open = [root];
  for (let at = 0; at < text.length;) {
    const list = open.at(-1) ?? root;
    const char = text[at];
    if (char === '(') {
      if (open.length > MAX_NESTING) break;
      const inner: WireValue[] = [];
      list.push(inner);
      open.push(inner);
      at++;
    } else if (char === ')') {
      if (open.length > 1) open.pop();
      at++;
    } else if (char === ' ') at++;
    else at = readString(text, at, list);
  }
  return root[0] ?? null;
}

/** Appends the string, number or NIL at `at` to the list; returns its end. */
function readString(text: string, at: number, list: WireValue[]): number {
  if (text[at] === '"') {
    let end = at + 1;
    while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
    const quoted = text.slice(at + 1, end);
    list.push(quoted.includes('\\') ? quoted.replace(/\\(.)/g, '$1') : quoted);
    return end + 1;
  }
  if (text[at] === '{') {
    const brace = text.indexOf('}', at);
    if (brace < 0) return text.length;
    const start = brace + 3;
    const end = start + Number(text.slice(at + 1, brace));
    list.push(text.slice(start, end));
    return Math.max(end, start);
  }
  let end = at;
  while (end < text.length && text[end] !== ' ' && text[end] !== ')' && text[end] !== '(') end++;
  const atom = text.slice(at, end);
  list.push(atom === 'NIL' ? null : atom);
  return end;
}
