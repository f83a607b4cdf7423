const UNSEEN = /\p{Default_Ignorable_Code_Point}+/gu;

/**
 * Characters that carry data unseen: tags, variation selectors (but one after a sign that has an emoji form), and zero-width
 * signs (but joiners between letters other than Latin, or in an emoji).
 */
const CARRIERS = new RegExp(
  [
    String.raw`[\u{e0000}-\u{e0fff}\u180b-\u180f\u200b\u2060-\u2064\u206a-\u206f\ufe00-\ufe0d\ufff9-\ufffb\u115f\u1160\u3164\uffa0]`,
    String.raw`(?<![^\x00-\x22\x24-\x29\x2b-\x2f\x3a-\x7f\u200c\u200d\ufe0e\ufe0f])[\ufe0e\ufe0f]`,
    String.raw`(?<![^\x00-\u024f\u200c\u200d])[\u200c\u200d]`,
  ].join('|'),
  'u',
);

/** Tests for characters that can hide data from the people who read a text. */
export function hidesData(text: string): boolean {
  return CARRIERS.test(text);
}

/** Normalizes a text: lower case, NFKC, without invisible characters. */
export function normalizeText(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  return text.replace(UNSEEN, '').normalize('NFKC').toLowerCase();
}

/** Letters and digits of a plain text: blanks, dashes and dots between them change nothing. */
export function lettersOf(plain: string): string {
  return plain.replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Lower case ASCII by octet; 0 for blanks, controls and everything else. */
const SIGNS = Uint8Array.from({ length: 256 }, (_, octet) =>
  octet > 0x20 && octet < 0x7f ? String.fromCharCode(octet).toLowerCase().charCodeAt(0) : 0,
);
const IS_LETTER = Uint8Array.from(SIGNS, (sign) => Number(/[a-z0-9]/.test(String.fromCharCode(sign))));

/** Lower case ASCII of octets, and the letters and digits of it; about 100 MB/s. */
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

/** Joins the printable runs of several decoded words. */
export function printableIn(all: Iterable<Buffer>): string {
  let text = '';
  for (const octets of all) {
    const found = printableRuns(octets);
    if (found !== '') text += text === '' ? found : `\n${found}`;
  }
  return text;
}

/** Runs of printable ASCII in octets; zeros are skipped, as the octets may be UTF-16. */
export function printableRuns(octets: Buffer): string {
  const text = octets.toString('latin1').replaceAll('\0', '');
  return (text.match(/[\t\n\r\x20-\x7e]{4,}/g) ?? []).join('\n');
}
