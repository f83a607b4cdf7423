import type { Value } from './raw-imap.ts';

/** A value as one line that people can compare; letters of types, names and encodings count in no case. */
export function shown(value: Value | undefined): string {
  if (value === null || value === undefined) return 'NIL';
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return JSON.stringify(value.text);
  return `(${value.map(shown).join(' ')})`;
}

/**
 * Normalizes differences that both servers may have: RFC 2045 5.2 gives a text part without a charset
 * US-ASCII, stated (Dovecot) or not; a language is a string or a list; 8-bit octets of a header are shown raw (Dovecot) or
 * as an encoded word, since RFC 3501 4.3 has no 8-bit strings without a charset.
 */
export function commonForm(value: Value | undefined): Value {
  return Array.isArray(value) ? list(value) : scalar(value ?? null);
}

function scalar(value: Exclude<Value, Value[]>): Value {
  if (value === null || typeof value === 'string') return value;
  return { text: decoded(value.text).toLowerCase() };
}

function list(values: Value[]): Value {
  const members = values.map(commonForm);
  if (isBody(members)) {
    const [type, subtype, params, ...rest] = members;
    const language = rest.length - 2;
    const tail = rest.map((one, at) =>
      at === language && Array.isArray(one) && one.length === 1 ? (one[0] ?? null) : one,
    );
    return [
      type ?? null,
      subtype ?? null,
      type !== undefined && textOf(type) === 'text' ? withCharset(params ?? null) : (params ?? null),
      ...tail,
    ];
  }
  return members;
}

/** A part that is no multipart: two strings, parameters, two nstrings, an encoding and a number. */
function isBody(members: Value[]): boolean {
  const [type, subtype, params, , , encoding, octets] = members;
  const strings = [type, subtype, encoding].every((one) => one !== undefined && textOf(one) !== undefined);
  return members.length >= 7 && strings && (params === null || Array.isArray(params)) && isNumber(octets);
}

function isNumber(value: Value | undefined): boolean {
  return typeof value === 'string' && /^\d+$/.test(value);
}

function withCharset(params: Value): Value {
  const names = Array.isArray(params) ? params.filter((_, at) => at % 2 === 0).map(textOf) : [];
  if (names.includes('charset')) return params;
  return [...(Array.isArray(params) ? params : []), { text: 'charset' }, { text: 'us-ascii' }];
}

function textOf(value: Value): string | undefined {
  return typeof value === 'object' && value !== null && 'text' in value ? value.text : undefined;
}

const WORD = /=\?utf-8\?B\?([A-Za-z0-9+/=]*)\?=/gi;

/** Base64 words in UTF-8, as made for 8-bit octets, back in octets. */
function decoded(text: string): string {
  return text
    .replace(/(\?=)[ \t]+(?==\?utf-8\?B\?)/gi, '$1')
    .replace(WORD, (_, base64: string) => Buffer.from(base64, 'base64').toString('latin1'));
}
