import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { HOSTILE_INPUTS, type HostileInput, repeated } from './inputs.ts';
import type { CostRow } from './row.ts';

/** Largest ratio of CPU time for {@link TIMES} times the input; the square would be 256. */
const MAX_RATIO = 20;
const TIMES = 16;
/**
 * The same for the last {@link STEP} times: halfway, as an exponent, between proportion (4) and the square (16). Beside
 * browsers the caches and the collection of garbage alone made 6 of 4, in each of twelve rounds.
 */
const MAX_STEP_RATIO = 8;
const STEP = 4;
const LARGE = 1024 * 1024;
/**
 * ms of CPU. Work for the small input that takes less counts as so much, as caches and fresh memory decide below it: what
 * takes up to 40 ms for the large input passes.
 */
const FLOOR_MS = 2;
/** Screening drives each input at this share of the small size, so that all of them fit into a minute. */
const SCREENED = 4;
/** Inputs that are measured at both sizes, besides those that the row names. */
const MEASURED = process.env['COST_FULL'] === '1' ? Infinity : 2;
const ROUNDS = 12;
/** ms of CPU for the small input, above which the large one is not tried: the square would take minutes. */
const MAX_SHORT_MS = 1000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Sizes at which a row is compared, in octets. */
function sizesOf({ most = LARGE }: CostRow): { small: number; large: number } {
  return { small: Math.floor(most / TIMES), large: most };
}

/** Returns the inputs that cost a function the most, and those that are known to be its worst. */
export async function worstInputs(row: CostRow): Promise<HostileInput[]> {
  const own = [
    ...row.worst.map((unit) => repeated(unit)),
    ...row.made.map((make, i) => ({ name: `made text ${i + 1}`, make })),
  ];
  const size = sizesOf(row).small / SCREENED;
  const costs: { input: HostileInput; ms: number }[] = [];
  for (const input of HOSTILE_INPUTS) costs.push({ input, ms: await once(row, input.make(size)) });
  costs.sort((one, other) => other.ms - one.ms);
  return [...own, ...costs.slice(0, MEASURED).map(({ input }) => input)];
}

async function once({ drive }: CostRow, text: string): Promise<number> {
  // Counts this thread only: those that collect garbage beside it wait for each other when the machine has other work.
  const before = process.threadCpuUsage();
  await drive(text);
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

/**
 * Describes the growth of a function's work that is not in proportion to its input; undefined if it is. Some rounds, as other
 * work of the machine only adds to a time.
 */
export async function growthBeyond(row: CostRow, input: HostileInput): Promise<string | undefined> {
  const ratio = await ratioOf(row, input, TIMES);
  if (ratio <= MAX_RATIO) return undefined;
  if (ratio === Infinity) return `${input.name}: more than ${MAX_SHORT_MS} ms for the small input`;
  // Where the input leaves the caches of the processor work is a third slower, once; the square grows at each step.
  const step = await ratioOf(row, input, STEP);
  if (step <= MAX_STEP_RATIO) return undefined;
  return `${input.name}: ${ratio.toFixed(1)} times the work for ${TIMES} times the input, ${step.toFixed(1)} times for ${STEP}`;
}

/**
 * Returns the ratio of CPU times for the large input and a part of it, the least of some rounds. Each round compares runs
 * that take about as long, as other work of the machine slows both.
 */
async function ratioOf(row: CostRow, { make }: HostileInput, times: number): Promise<number> {
  const { large } = sizesOf(row);
  const [short, long] = [make(large / times), make(large)];
  if ((await once(row, short)) > MAX_SHORT_MS * 1000) return Infinity;
  let least = Infinity;
  for (let round = 0; round < ROUNDS && least > (times === STEP ? MAX_STEP_RATIO : MAX_RATIO); round++) {
    // Garbage of earlier work would be collected during this one.
    if (round > 0) collectGarbage();
    const most = (await once(row, long)) / 1000;
    if (most <= FLOOR_MS * MAX_RATIO) return 0;
    least = Math.min(least, most / Math.max(FLOOR_MS, await several(row, short, times)));
  }
  return least;
}

async function several(row: CostRow, text: string, runs: number): Promise<number> {
  let spent = 0;
  for (let run = 0; run < runs; run++) spent += await once(row, text);
  return spent / 1000 / runs;
}
