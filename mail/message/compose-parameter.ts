import { encodeWords } from './encoded-word.ts';

/** Characters of a continuation's value. */
const MAX_PIECE_CHARACTERS = 60;

/**
 * Formats a MIME parameter, `name="value"`; non-ASCII values by RFC 2231 4, in continuations on separate lines. The value
 * must not contain control characters.
 */
export function formatParameter(name: string, value: string): string {
  if (isPlain(value)) return `${name}="${value.replace(/["\\]/g, String.raw`\$&`)}"`;
  const encoded = encodeURIComponent(value.toWellFormed()).replace(
    /[!~*'()]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const pieces: string[] = [];
  for (let at = 0; at < encoded.length || at === 0;) {
    let end = at + MAX_PIECE_CHARACTERS;
    // An octet is never split: %C3 stays together.
    if (end < encoded.length) end -= encoded.slice(end - 2, end).includes('%') ? (encoded[end - 1] === '%' ? 1 : 2) : 0;
    pieces.push(encoded.slice(at, end));
    at = end;
  }
  return pieces.map((piece, i) => `${name}*${i}*=${i === 0 ? "utf-8''" : ''}${piece}`).join(';\r\n ');
}

/**
 * Formats the `name` parameter of Content-Type for old clients, which support only encoded-words there. RFC 2047 5 forbids
 * them in quotes; modern clients read Content-Disposition.
 */
export function formatTypeName(name: string): string {
  if (isPlain(name)) return formatParameter('name', name);
  return `name="${encodeWords(name).replaceAll(' ', '\r\n ')}"`;
}

/** False for text that looks like an encoded-word: many clients would decode it, even in quotes. */
function isPlain(value: string): boolean {
  return /^[\x20-\x7e]{1,60}$/.test(value) && !value.includes('=?');
}
