import { decodePlacedWords } from './encoded-word.ts';
import { unfold } from './header.ts';

/** Converts a latin1-read field to the Text form: unfolded, decoded, in NFC. RFC 8621 4.1.2.2. */
export function headerText(value: string): string {
  return readableText(unfold(value)).trim();
}

/** Decodes a piece of a field, such as a display name. */
export function readableText(text: string): string {
  // Fast path for most values.
  if (/^[\t\x20-\x7e]*$/.test(text) && !text.includes('=?')) return text;
  return decodePlacedWords(text).replaceAll('\0', '').toWellFormed().normalize('NFC');
}

/** Converts to the Raw form: UTF-8 without NUL; invalid UTF-8 becomes U+FFFD. RFC 8621 4.1.2.1. */
export function rawText(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8').replaceAll('\0', '');
}
