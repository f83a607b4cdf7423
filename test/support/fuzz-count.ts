/** Returns a fifth of the full count by default, all of it with `FUZZ_FULL=1`, or the count that is given. */
export function fuzzCount(full: number, given = process.env['FUZZ_LINES']): number {
  if (given !== undefined) return Number(given);
  return process.env['FUZZ_FULL'] === '1' ? full : full / 5;
}
