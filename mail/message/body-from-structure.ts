interface StructureFrame {
  /** True for a multipart: bodies, then a subtype. False for the fields of a leaf or an attached message. */
  multipart: boolean;
  /** Fields still to be copied. */
  left: number;
  /** Value of `left` at the field that is a body itself. */
  nested: number;
}

/**
 * Derives BODY from a BODYSTRUCTURE that this library wrote, by dropping extension data. RFC 3501 7.4.2. Uses an explicit
 * stack; skips strings and literals.
 */
export function bodyFromStructure(bodyStructure: string): string {
  const text = bodyStructure;
  const stack: StructureFrame[] = [];
  let out = '';
  let at = 0;
  while (at < text.length) {
    const frame = stack.at(-1);
    if (frame === undefined || (frame.multipart ? text[at] === '(' : frame.left === frame.nested)) {
      if (text[at] === ' ') at++;
      const opened = openFrame(text, at);
      out += frame !== undefined && !frame.multipart ? ' (' : '(';
      if (frame !== undefined) frame.left--;
      stack.push(opened);
      at++;
      continue;
    }
    if (frame.multipart || frame.left > 0) {
      const end = valueEnd(text, text[at] === ' ' ? at + 1 : at);
      out += text.slice(at, end);
      at = end;
      frame.left = frame.multipart ? 0 : frame.left - 1;
      if (!frame.multipart) continue;
    }
    if (frame.left <= 0) {
      at = listEnd(text, at);
      out += ')';
      stack.pop();
      if (stack.length === 0) return out;
    }
  }
  return out;
}

/** RFC 3501 body-type-basic has seven fields, body-type-text eight, body-type-msg ten with a body as ninth. */
function openFrame(text: string, at: number): StructureFrame {
  if (text[at + 1] === '(') return { multipart: true, left: 1, nested: -1 };
  if (text.startsWith('("text" ', at)) return { multipart: false, left: 8, nested: -1 };
  if (text.startsWith('("message" "rfc822" ', at)) return { multipart: false, left: 10, nested: 2 };
  return { multipart: false, left: 7, nested: -1 };
}

/** Index after the string, number, NIL or list that begins here. */
function valueEnd(text: string, start: number): number {
  const char = text[start];
  if (char === '"') return quotedEnd(text, start);
  if (char === '{') return literalEnd(text, start);
  if (char === '(') return listEnd(text, start + 1);
  let at = start;
  while (at < text.length && text[at] !== ' ' && text[at] !== ')') at++;
  return at;
}

function quotedEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function literalEnd(text: string, start: number): number {
  const brace = text.indexOf('}', start);
  return brace + 3 + Number(text.slice(start + 1, brace));
}

/** Index after the parenthesis that closes the current list. */
function listEnd(text: string, from: number): number {
  let depth = 1;
  let at = from;
  while (at < text.length && depth > 0) {
    const char = text[at];
    if (char === '"') at = quotedEnd(text, at);
    else if (char === '{') at = literalEnd(text, at);
    else {
      if (char === '(') depth++;
      if (char === ')') depth--;
      at++;
    }
  }
  return at;
}
