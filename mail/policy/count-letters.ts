/** Counts letters and digits, approximately: without blanks, punctuation and zero-width characters. One pass. */
export function countLetters(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80 ? isAsciiLetter(code) : isNonAsciiLetter(code)) count += 1;
  }
  return count;
}

function isAsciiLetter(code: number): boolean {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

/** Excludes Latin-1 signs, the combining joiner, general and ideographic punctuation, and zero-width forms. */
function isNonAsciiLetter(code: number): boolean {
  if (code < 0xc0 || code === 0x34f) return false;
  if (code >= 0x2000 && code <= 0x206f) return false;
  return (
    !(code >= 0x3000 && code <= 0x303f) && code !== 0xfeff && code !== 0x115f && code !== 0x1160 && code !== 0x3164
  );
}
