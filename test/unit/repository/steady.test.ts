import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const files = ['unit', 'contract', 'dialogs', 'journeys', 'matrix'].flatMap((folder) =>
  readdirSync(join(root, 'test', folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${folder}/${file}`),
);

/** A clock that is compared with an upper bound, or a bound that is widened on a busy machine. */
const TIMED = [/(?:performance|Date)\.now\(\) - \w+\)[^;]*\.toBeLess/, /user \+ system\)[^;]*\.toBeLess/, /\bbusy\(\)/];

// On a machine that is busy with other things such a test fails without a defect: test/support/cost.ts compares two sizes.
test('no test asserts that something takes less than a time', () => {
  expect(files.length).toBeGreaterThan(300);
  expect(
    files.filter(
      (file) =>
        TIMED.some((one) => one.test(readFileSync(join(root, file), 'utf8'))) && !file.endsWith('/steady.test.ts'),
    ),
  ).toEqual([]);
});
