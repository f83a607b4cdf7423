import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type BombCost, REPORT_BOMBS } from '../support/report-bombs.ts';

/** Most CPU time, as a multiple of that of an ordinary report with the most rows that are read. */
const MOST_RATIO = 6;
/** Most growth of resident memory, MiB: the heap of the largest report, and its text. */
const MOST_GROWTH = 400;

const MODULE = join(import.meta.dirname, '../support/report-bombs.ts');

/** Reads a message in a process of its own: the peak of its memory is that of the reader. */
function costInProcess(bomb: Buffer): BombCost {
  const folder = mkdtempSync(join(tmpdir(), 'report-bomb-'));
  try {
    const file = join(folder, 'bomb');
    writeFileSync(file, bomb);
    const script = `import { readFileSync } from 'node:fs';
      import { costOf } from ${JSON.stringify(MODULE)};
      console.log(JSON.stringify(costOf(readFileSync(${JSON.stringify(file)}))));`;
    const options = { encoding: 'utf8', timeout: 120_000 } as const;
    return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], options)) as BombCost;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.each(Object.entries(REPORT_BOMBS))(
  '%s: bounded in CPU time and memory',
  (name, make) => {
    const bomb = make();
    const costs = [costInProcess(bomb)];
    const least = (of: (cost: BombCost) => number): number => Math.min(...costs.map(of));
    // Other load only adds: the least of three counts if the first is too high.
    while (least(({ ratio }) => ratio) > MOST_RATIO && costs.length < 3) costs.push(costInProcess(bomb));
    console.log(`${name}: ${JSON.stringify(costs)}`);
    expect(
      least(({ ratio }) => ratio),
      'CPU time',
    ).toBeLessThan(MOST_RATIO);
    expect(
      least(({ grownMib }) => grownMib),
      'MiB of memory',
    ).toBeLessThan(MOST_GROWTH);
  },
  300_000,
);
