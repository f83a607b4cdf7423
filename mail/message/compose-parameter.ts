import { encodeWords } from './encoded-word.ts';

/**
 * A parameter of a MIME field, `name="value"`: RFC 2231 4 where the value is not plain ASCII, in pieces on lines of
 * their own, so that no line is long. The value holds no control characters.
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
 * A file name beside the Content-Type, where old readers look for it and know encoded-words only. RFC 2047 5 forbids
 * these in quotes; who knows better reads the other form, in Content-Disposition.
 */
export function formatTypeName(name: string): string {
  if (isPlain(name)) return formatParameter('name', name);
  return `name="${encodeWords(name).replaceAll(' ', '\r\n ')}"`;
}

/** What looks like an encoded-word would be decoded by many, in quotes or not. */
function isPlain(value: string): boolean {
  return /^[\x20-\x7e]{1,60}$/.test(value) && !value.includes('=?');
}
