/** A parsed IMAP value: strings as {text}, NIL as null, numbers, lists. */
export type ImapValue = null | number | { text: string } | ImapValue[];

/** Reads exactly one value by the grammar of RFC 3501 9, strictly: one blank between members, but none between bodies. */
export function parseImapValue(wire: string): ImapValue {
  const stack: ImapValue[][] = [[]];
  let at = 0;
  while (at < wire.length) {
    const top = stack.at(-1)!;
    const char = wire[at]!;
    const afterBlank = char === ' ';
    if (afterBlank) at++;
    const next = wire[at]!;
    if (next === ')') {
      if (afterBlank || top.length === 0) throw new Error(`empty list or blank before ")" at ${at}`);
      stack.pop();
      if (stack.length === 0) throw new Error(`")" too much at ${at}`);
      at++;
      continue;
    }
    const first = top.length === 0;
    const joined = !first && next === '(' && wire[at - 1] === ')';
    if (afterBlank === first && !joined)
      throw new Error(`blank missing or too much at ${at}: ${wire.slice(at - 20, at + 20)}`);
    if (next === '(') {
      const list: ImapValue[] = [];
      top.push(list);
      stack.push(list);
      at++;
      continue;
    }
    const [value, end] = scalar(wire, at);
    top.push(value);
    at = end;
  }
  if (stack.length !== 1 || stack[0]!.length !== 1) throw new Error('not one value');
  return stack[0]![0]!;
}

function scalar(wire: string, at: number): [ImapValue, number] {
  const rest = wire.slice(at, at + 1100);
  const quoted = /^"((?:[\x01-\x09\x0b\x0c\x0e-\x21\x23-\x5b\x5d-\x7f]|\\["\\])*)"/.exec(rest);
  if (quoted) return [{ text: quoted[1]!.replace(/\\(.)/g, '$1') }, at + quoted[0].length];
  const literal = /^\{(\d+)\}\r\n/.exec(rest);
  if (literal) {
    const start = at + literal[0].length;
    const text = wire.slice(start, start + Number(literal[1]));
    if (/[\0\x80-\xff]/.test(text)) throw new Error(`8-bit or NUL literal at ${at}`);
    return [{ text }, start + text.length];
  }
  const atom = /^(?:NIL|\d+)(?=[ )]|$)/.exec(rest);
  if (!atom) throw new Error(`no value at ${at}: ${rest.slice(0, 40)}`);
  return [atom[0] === 'NIL' ? null : Number(atom[0]), at + atom[0].length];
}

const isText = (value: ImapValue | undefined): boolean =>
  typeof value === 'object' && value !== null && 'text' in value;
const isNstring = (value: ImapValue | undefined): boolean => value === null || isText(value);
const text = (value: ImapValue | undefined): string => (isText(value) ? (value as { text: string }).text : '');

function expectThat(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

/** Throws unless the value is an ENVELOPE. */
export function checkEnvelope(value: ImapValue | undefined): void {
  if (!Array.isArray(value)) throw new Error('ENVELOPE is no list');
  expectThat(value.length === 10, `ENVELOPE has ${value.length} fields`);
  for (const i of [0, 1, 8, 9]) expectThat(isNstring(value[i]), `ENVELOPE field ${i} is no nstring`);
  for (const list of value.slice(2, 8)) {
    if (list === null) continue;
    if (!Array.isArray(list)) throw new Error('address list is no list');
    for (const address of list) {
      if (!Array.isArray(address)) throw new Error('address is no list');
      expectThat(address.length === 4 && address.every(isNstring), 'address has not four nstrings');
    }
  }
}

/** Throws unless the value is a BODYSTRUCTURE with all extension data, or a BODY when `extended` is false. */
export function checkBody(root: ImapValue, extended = true): void {
  const todo: ImapValue[] = [root];
  for (let body = todo.pop(); body !== undefined; body = todo.pop()) {
    if (!Array.isArray(body)) throw new Error('body is no list');
    todo.push(...(Array.isArray(body[0]) ? checkMultipart(body, extended) : checkLeaf(body, extended)));
  }
}

function checkMultipart(body: ImapValue[], extended: boolean): ImapValue[] {
  const parts = body.filter(Array.isArray).slice(
    0,
    body.findIndex((member) => !Array.isArray(member)),
  );
  expectThat(isText(body[parts.length]), 'multipart has no subtype');
  expectThat(body.length === parts.length + (extended ? 5 : 1), `multipart has ${body.length - parts.length} fields`);
  if (extended) {
    checkParams(body[parts.length + 1]);
    checkTail(body.slice(parts.length + 2));
  }
  return parts;
}

function checkLeaf(body: ImapValue[], extended: boolean): ImapValue[] {
  const kind = `${text(body[0])}/${text(body[1])}`;
  const basic = kind.startsWith('text/') ? 8 : kind === 'message/rfc822' ? 10 : 7;
  expectThat(body.length === basic + (extended ? 4 : 0), `${kind} has ${body.length} fields`);
  for (const i of [0, 1, 5]) expectThat(isText(body[i]), `${kind} field ${i} is no string`);
  for (const i of [3, 4]) expectThat(isNstring(body[i]), `${kind} field ${i} is no nstring`);
  checkParams(body[2]);
  expectThat(Number.isInteger(body[6]), `${kind} has no size`);
  if (basic > 7) expectThat(Number.isInteger(body[basic - 1]), `${kind} has no lines`);
  if (extended) {
    expectThat(isNstring(body[basic]), 'MD5 is no nstring');
    checkTail(body.slice(basic + 1));
  }
  if (basic < 10) return [];
  checkEnvelope(body[7]);
  return [body[8]!];
}

function checkParams(params: ImapValue | undefined): void {
  if (params === null) return;
  if (!Array.isArray(params)) throw new Error('parameters are no list');
  expectThat(params.length % 2 === 0 && params.every(isText), 'parameters are no pairs of strings');
}

function checkTail([disposition, language, location]: ImapValue[]): void {
  if (disposition !== null) {
    if (!Array.isArray(disposition)) throw new Error('disposition is no list');
    expectThat(disposition.length === 2 && isText(disposition[0]), 'disposition is no pair');
    checkParams(disposition[1]);
  }
  expectThat(isNstring(language) || (Array.isArray(language) && language.every(isText)), 'language');
  expectThat(isNstring(location), 'location');
}
