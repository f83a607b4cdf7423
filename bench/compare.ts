import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compareRuns, type Figure, figuresOf } from './lib/figures.ts';

/**
 * One bench in two checkouts, interleaved (A B, B A, A B, ...): medians of every figure that it prints, and their ratio.
 * `npm run bench:compare -- <tree A> <tree B> <bench> [rounds] [arguments of the bench ...]`. Each tree has its own
 * node_modules. The machine should do nothing else.
 */
const [first, second, bench, rounds = '5', ...rest] = process.argv.slice(2);
if (first === undefined || second === undefined || bench === undefined || !(Number(rounds) >= 1)) {
  console.error('Usage: node bench/compare.ts <tree A> <tree B> <bench> [rounds] [arguments of the bench ...]');
  process.exit(2);
}
const trees = [resolve(first), resolve(second)];
for (const tree of trees) {
  if (existsSync(join(tree, 'bench', `${bench}.ts`))) continue;
  console.error(`${tree} has no bench/${bench}.ts: name two checkouts of Mailstead and a bench that both have.`);
  process.exit(2);
}
const different = differences(trees);
if (different.length > 0)
  console.error(`The trees measure differently, so their figures may not compare: ${different.join(', ')}`);

const runs = trees.map((): Figure[][] => []);
for (let round = 0; round < Number(rounds); round++) {
  // Each tree goes first in every second round: neither always has the warmer machine.
  for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) runs[at]?.push(figuresOf(run(trees[at] ?? '')));
}
const compared = compareRuns(runs[0] ?? [], runs[1] ?? []);
console.log(`bench/${bench}.ts ${rest.join(' ')}: ${rounds} interleaved rounds, medians. A: ${first}, B: ${second}\n`);
console.log('| | | A | B | B / A | B larger |');
console.log('|---|---|---|---|---|---|');
for (const one of compared) {
  const ratio = one.first === 0 ? '' : (one.second / one.first).toFixed(3);
  console.log(
    `| ${[one.row, one.what, rounded(one.first), rounded(one.second), ratio, `${one.larger} of ${one.rounds}`].join(' | ')} |`,
  );
}

/** Output of one run. Ends the comparison if the bench fails: a median of fewer runs would hide it. */
function run(tree: string): string {
  const { status, stdout } = spawnSync(process.execPath, [`bench/${bench}.ts`, ...rest], {
    cwd: tree,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status === 0) return stdout;
  console.error(`bench/${bench}.ts failed in ${tree} (${status ?? 'ended by a signal'}). Its output:\n${stdout}`);
  process.exit(1);
}

/** Files of the bench that are not the same in both trees. */
function differences([one = '', other = '']: readonly string[]): string[] {
  const shared = readdirSync(join(one, 'bench/lib')).map((name) => `bench/lib/${name}`);
  return [`bench/${bench}.ts`, ...shared].filter(
    (file) => !existsSync(join(other, file)) || !readFileSync(join(one, file)).equals(readFileSync(join(other, file))),
  );
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(4)));
}
