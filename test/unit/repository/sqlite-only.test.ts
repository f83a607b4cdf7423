import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { JOURNEYS_ON_SQLITE, SQLITE_ONLY } from '../../postgres/sqlite-only.ts';

test.each([
  ['contract', SQLITE_ONLY],
  ['journeys', JOURNEYS_ON_SQLITE],
])('each file of test/%s that does not run on PostgreSQL exists', (folder, names) => {
  const gone = [...names.keys()].filter((name) => !existsSync(`test/${folder}/${name}.test.ts`));
  expect(gone).toEqual([]);
});
