import { encodeWords } from './encoded-word.ts';

/**
 * Formats a MIME parameter, `name="value"`; non-ASCII values by RFC 2231 4, in continuations on separate lines. The value
 * must not contain control characters.
 */
export function formatParameter(name: string, value: string): string {
  if (isPlain(value)) return `${name}="${value.replace(/["\\]/g, String.raw`\$&`)}"`;
  const octets = [...Buffer.from(value.toWellFormed())].map((octet) =>
    /[A-Za-z0-9._-]/.test(String.fromCharCode(octet))
      ? String.fromCharCode(octet)
      : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`,
  );
  const pieces: string[] = [''];
  for (const unit of octets) {
    if ((pieces.at(-1)?.length ?? 0) + unit.length > 60) pieces.push('');
    pieces[pieces.length - 1] += unit;
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
