/** Decodes UTF-7 (RFC 2152) from text read as latin1. Broken runs are left out. */
export function decodeUtf7(text: string): string {
  let out = '';
  for (let at = 0; at < text.length;) {
    const plus = text.indexOf('+', at);
    if (plus < 0) return out + text.slice(at);
    let end = plus + 1;
    while (isBase64(text.charCodeAt(end))) end++;
    const run = text.slice(plus + 1, end);
    const closed = text[end] === '-';
    out += text.slice(at, plus) + (run === '' ? (closed ? '+' : '') : fromUtf16(run));
    at = closed ? end + 1 : end;
  }
  return out;
}

function isBase64(char: number): boolean {
  return (char >= 65 && char <= 90) || (char >= 97 && char <= 122) || (char >= 47 && char <= 57) || char === 43;
}

function fromUtf16(base64: string): string {
  const bytes = Buffer.from(base64, 'base64');
  return bytes
    .subarray(0, bytes.length & ~1)
    .swap16()
    .toString('utf16le')
    .toWellFormed();
}
