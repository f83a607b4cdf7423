/** Shortest measurement, in ms of CPU: shorter work is repeated until its cost can be measured. */
const LEAST_MS = 8;
const TRIES = 3;
/** ms. Below it the caches of the processor and fresh memory decide: it counts as so much. */
const FLOOR_MS = 0.25;

/** CPU ms of this process for one run of `work`: the least of some tries, as a busy machine only adds. */
export async function cpuOf(work: () => unknown, tries = TRIES): Promise<number> {
  let least = Infinity;
  for (let n = 0; n < tries; n++) {
    const before = process.cpuUsage();
    let [runs, spent] = [0, 0];
    do {
      await work();
      runs++;
      const { user, system } = process.cpuUsage(before);
      spent = (user + system) / 1000;
    } while (spent < LEAST_MS);
    least = Math.min(least, spent / runs);
  }
  return Math.max(least, FLOOR_MS);
}

/**
 * Returns the CPU time of `other` divided by that of `one`, the least of some tries. A bound on the ratio holds on any
 * machine, busy or not; a bound in milliseconds does not.
 */
export async function costRatio(one: () => unknown, other: () => unknown): Promise<number> {
  let least = Infinity;
  for (let n = 0; n < TRIES && !(least < 2); n++) least = Math.min(least, (await cpuOf(other)) / (await cpuOf(one)));
  return least;
}

/** Above this, work for ten times the input is not in proportion to it: the square would be 100. */
export const PROPORTIONAL = 40;

/** Returns the CPU time of `work` for `size` divided by that for a tenth of it; {@link PROPORTIONAL} is the bound. */
export async function growth(work: (size: number) => unknown, size: number): Promise<number> {
  await work(size / 10);
  let least = Infinity;
  for (let n = 0; n < TRIES && !(least < PROPORTIONAL / 2); n++) {
    const tenth = await cpuOf(() => work(size / 10));
    least = Math.min(least, (await cpuOf(() => work(size))) / tenth);
  }
  return least;
}
