/** Shares `most` out among lengths: who needs less than an equal share leaves the rest to the others. */
export function shares(lengths: readonly number[], most: number): number[] {
  const granted = lengths.map(() => 0);
  const byLength = lengths.map((length, i) => ({ length, i })).toSorted((a, b) => a.length - b.length);
  let left = most;
  for (const [done, { length, i }] of byLength.entries()) {
    const share = Math.min(length, Math.floor(left / (byLength.length - done)));
    granted[i] = share;
    left -= share;
  }
  return granted;
}
