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

/** By octet: what it is in small letters; 0 for blanks, controls and what is not ASCII. */
const SIGNS = Uint8Array.from({ length: 256 }, (_, octet) =>
  octet > 0x20 && octet < 0x7f ? String.fromCharCode(octet).toLowerCase().charCodeAt(0) : 0,
);
const IS_LETTER = Uint8Array.from(SIGNS, (sign) => Number(/[a-z0-9]/.test(String.fromCharCode(sign))));

/** Of octets the signs of ASCII in small letters, and of these the letters and digits: a hundred megabytes in a second. */
export function signsOf(octets: Uint8Array): { signs: string; letters: string } {
  const signs = Buffer.allocUnsafe(octets.length);
  const letters = Buffer.allocUnsafe(octets.length);
  let signed = 0;
  let lettered = 0;
  for (let at = 0; at < octets.length; at++) {
    const sign = SIGNS[octets[at] ?? 0] ?? 0;
    if (sign === 0) continue;
    signs[signed++] = sign;
    if (IS_LETTER[sign] === 1) letters[lettered++] = sign;
  }
  return { signs: signs.toString('latin1', 0, signed), letters: letters.toString('latin1', 0, lettered) };
}
