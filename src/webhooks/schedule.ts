const S = 1_000;
const M = 60 * S;
const H = 60 * M;

/** How long after each failed attempt the next one follows; about 32 hours in all. */
const WAITS = [5 * S, 30 * S, 2 * M, 10 * M, 30 * M, H, 2 * H, 4 * H, 8 * H, 16 * H];

/** When an arrival is announced again after so many attempts failed; undefined: never. `random` in [0, 1). */
export function nextTry(failed: number, now: number, random: () => number): number | undefined {
  const wait = WAITS[failed - 1];
  return wait === undefined ? undefined : now + Math.round(wait * (0.9 + 0.2 * random()));
}
