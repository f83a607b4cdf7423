// RFC 3454 B.1: commonly mapped to nothing.
const MAPPED_TO_NOTHING = /\u00ad|\u034f|\u1806|[\u180b-\u180d]|[\u200b-\u200d]|\u2060|[\ufe00-\ufe0f]|\ufeff/gu;
// RFC 3454 C.1.2: spaces other than U+0020.
const SPACES = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/gu;
// RFC 3454 C.2 to C.9, after NFKC: controls, private use, non-characters, surrogates, direction marks, tags.
const PROHIBITED =
  /[\p{Cc}\p{Co}\p{Cs}\p{Noncharacter_Code_Point}\u0340\u0341\u06dd\u070f\u180e\u200e\u200f\u2028-\u202e\u2061-\u206f\u2ff0-\u2ffb\ufff9-\ufffd\u{1d173}-\u{1d17a}\u{e0001}\u{e0020}-\u{e007f}]/u;

/**
 * Prepares a password for comparison; undefined when it has a prohibited character. RFC 4013 (SASLprep), except that
 * characters newer than Unicode 3.2 are allowed and mixed directions are not checked: both would reject real passwords.
 */
export function preparePassword(text: string): string | undefined {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  const prepared = text.replace(MAPPED_TO_NOTHING, '').replace(SPACES, ' ').normalize('NFKC');
  return PROHIBITED.test(prepared) ? undefined : prepared;
}
