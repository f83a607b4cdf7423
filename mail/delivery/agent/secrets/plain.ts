const UNSEEN = /\p{Default_Ignorable_Code_Point}+/gu;

/** A text in small letters of one form, without characters that nobody sees. */
export function plainText(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  return text.replace(UNSEEN, '').normalize('NFKC').toLowerCase();
}

/** Of a plain text its letters and digits only: blanks, dashes and dots between them change nothing. */
export function lettersOf(plain: string): string {
  return plain.replace(/[^\p{L}\p{N}]+/gu, '');
}
