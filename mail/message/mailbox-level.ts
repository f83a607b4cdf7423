/** Octets of UTF-8 in one level of a mailbox's name. */
export const LONGEST_LEVEL = 255;

/**
 * Tells whether a text in NFC can be one level of a mailbox's name: not empty, not too long, without the separator and
 * without control characters and line ends, which would break answers and logs.
 */
export function isMailboxLevel(level: string): boolean {
  if (level === '' || level.length > LONGEST_LEVEL || level.includes('/')) return false;
  return level.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(level) && Buffer.byteLength(level) <= LONGEST_LEVEL;
}
