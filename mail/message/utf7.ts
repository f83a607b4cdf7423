const PLUS = 43;
const MINUS = 45;
/** Base64 value of each character; -1 for others. */
const VALUES = new Int8Array(256).fill(-1);
for (const [value, letter] of Buffer.from(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
).entries()) {
  VALUES[letter] = value;
}

/** Decodes UTF-7 (RFC 2152) from text read as latin1. Skips broken runs. */
export function decodeUtf7(text: string): string {
  if (!text.includes('+')) return text;
  // Writes code units directly: a text may have millions of runs.
  const units = new Uint16Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char !== PLUS) {
      units[length++] = char;
      continue;
    }
    const start = ++at;
    let held = 0;
    let bits = 0;
    for (let value = valueAt(text, at); value >= 0; value = valueAt(text, ++at)) {
      held = ((held << 6) | value) & 0x3fffff;
      bits += 6;
      if (bits < 16) continue;
      bits -= 16;
      units[length++] = held >>> bits;
    }
    if (text.charCodeAt(at) !== MINUS) at--;
    else if (at === start) units[length++] = PLUS;
  }
  return Buffer.from(units.buffer, 0, 2 * length)
    .toString('utf16le')
    .toWellFormed();
}

function valueAt(text: string, at: number): number {
  return VALUES[text.charCodeAt(at)] ?? -1;
}
