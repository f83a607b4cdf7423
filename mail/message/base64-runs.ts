const FOREIGN = 255;
const PADDING = 254;
const DIGITS = new Uint8Array(256).fill(FOREIGN);
for (const last of ['+/', '-_']) {
  const alphabet = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${last}`;
  for (let i = 0; i < alphabet.length; i++) DIGITS[alphabet.charCodeAt(i)] = i;
}
DIGITS[61] = PADDING;

/**
 * Base64 piece by piece: foreign characters are skipped, and padding in the middle begins a new run. By a table and not by
 * runs of text: 25 MB of nothing but padded runs have millions of them, and cost eight seconds.
 */
export class Base64Runs {
  #bits = 0;
  #held = 0;

  /** What these octets complete; cut them anywhere. */
  push(piece: Uint8Array): Buffer {
    const out = Buffer.allocUnsafe(Math.ceil(piece.length * 0.75) + 1);
    let bits = this.#bits;
    let held = this.#held;
    let length = 0;
    for (let at = 0; at < piece.length; at++) {
      const value = DIGITS[piece[at] ?? 0] ?? FOREIGN;
      if (value < 64) {
        bits = ((bits << 6) | value) & 0xfff;
        held += 6;
        if (held >= 8) {
          held -= 8;
          out[length++] = bits >> held;
        }
      } else if (value === PADDING) held = 0;
    }
    this.#bits = bits;
    this.#held = held;
    return out.subarray(0, length);
  }
}
