import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SQLITE_ONLY } from '../../postgres/sqlite-only.ts';

test('each file that does not run on PostgreSQL exists', () => {
  const gone = [...SQLITE_ONLY.keys()].filter((name) => !existsSync(`test/contract/${name}.test.ts`));
  expect(gone).toEqual([]);
});
