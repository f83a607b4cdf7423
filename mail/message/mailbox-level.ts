/** UTF-8 octets in one level of a mailbox name. */
export const MAX_LEVEL_OCTETS = 255;

/**
 * Checks one level of a mailbox name in NFC: not empty, not too long, without the separator, control characters and line
 * ends, which would break responses and logs.
 */
export function isMailboxLevel(level: string): boolean {
  if (level === '' || level.length > MAX_LEVEL_OCTETS || level.includes('/')) return false;
  return level.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(level) && Buffer.byteLength(level) <= MAX_LEVEL_OCTETS;
}
