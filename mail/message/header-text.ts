import { decodePlacedWords } from './encoded-word.ts';
import { unfold } from './header.ts';

/** The Text form of a field that was read as latin1: unfolded, decoded, in NFC. RFC 8621 4.1.2.2. */
export function headerText(value: string): string {
  return readableText(unfold(value)).trim();
}

/** The same for a piece of a field, such as a display name. */
export function readableText(text: string): string {
  // Nearly all there is, in long lists of messages.
  if (/^[\t\x20-\x7e]*$/.test(text) && !text.includes('=?')) return text;
  return decodePlacedWords(text).replaceAll('\0', '').toWellFormed().normalize('NFC');
}

/** The Raw form: the octets as UTF-8 without NUL; what is no UTF-8 becomes U+FFFD. RFC 8621 4.1.2.1. */
export function rawText(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8').replaceAll('\0', '');
}
