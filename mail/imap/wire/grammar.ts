// Character classes of RFC 9051 section 9, one bit each, looked up by octet.

/** ATOM-CHAR. */
export const ATOM = 1;
/** ASTRING-CHAR: atoms and `]`. */
export const ASTRING = 2;
/** tag: ASTRING-CHAR without `+`. */
export const TAG = 4;
/** list-char: ASTRING-CHAR and the wildcards, and 8-bit: clients send UTF-8 names without negotiation. */
export const LIST = 8;
/** Letters, digits, `.` and `-`. */
export const NAME = 16;
export const DIGIT = 32;

export const CLASSES = new Uint8Array(256);

for (let octet = 0x21; octet < 0x7f; octet++) {
  const char = String.fromCharCode(octet);
  const atom = !'(){%*"\\]'.includes(char);
  let classes = atom ? ATOM | ASTRING | LIST : 0;
  if (char === ']') classes |= ASTRING | LIST;
  if (char === '%' || char === '*') classes |= LIST;
  if (classes & ASTRING && char !== '+') classes |= TAG;
  if (/[A-Za-z0-9.-]/.test(char)) classes |= NAME;
  if (/\d/.test(char)) classes |= DIGIT;
  CLASSES[octet] = classes;
}
// Beyond the grammar: names and words in raw UTF-8 without quotes, as broken clients send them.
for (let octet = 0x80; octet < 0x100; octet++) CLASSES[octet] = ASTRING | LIST;
