const VALUES = new Int8Array(256).fill(-1);
for (const [value, letter] of Buffer.from(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
).entries()) {
  VALUES[letter] = value;
}

/** The six bits that a letter of base64 stands for, -1 for all others, NaN included. RFC 4648 4. */
export function base64Value(char: number): number {
  return VALUES[char] ?? -1;
}
