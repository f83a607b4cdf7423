import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { storeTestMessage } from '../support/jmap-message.ts';
import { createJmapFixture } from '../support/jmap-fixture.ts';

const threads = (): number => readdirSync('/proc/self/task').length;

test(
  'a full-text thread that nobody needs ends, and another begins when it is asked',
  { timeout: 60_000 },
  async () => {
    await using world = await createJmapFixture('writer thread');
    const search = (): Promise<Record<string, unknown>> => world.call('Email/query', { filter: { text: 'needle' } });
    const first = await storeTestMessage(world, 'Subject: one\n\nneedle\n');
    const without = threads();
    expect((await search())['ids']).toEqual([first]);
    const working = threads();
    expect(working).toBeGreaterThan(without);
    await vi.waitFor(() => expect(threads()).toBeLessThan(working), { timeout: 40_000, interval: 500 });
    const second = await storeTestMessage(world, 'Subject: two\n\nneedle\n');
    expect(((await search())['ids'] as string[]).sort()).toEqual([first, second].sort());
  },
);

/** Number of accounts whose mail is indexed, read beside the server. */
function indexedAccounts(file: string): number {
  if (!existsSync(file)) return 0;
  using db = new DatabaseSync(file, { readOnly: true });
  const exists = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'progress'`).get() !== undefined;
  return exists ? Number(db.prepare('SELECT count(*) AS n FROM progress WHERE upto > 0').get()?.['n']) : 0;
}

test('mail that was not indexed before a shutdown is indexed after the start, without a commit or a search', async () => {
  await using world = await createJmapFixture('writer thread');
  await storeTestMessage(world, 'Subject: one\n\nneedle\n');
  const file = join(world.box.dataDir, 'mailstead-text.db');
  await world.box.store[Symbol.asyncDispose]();
  rmSync(file, { force: true });
  // Closing it twice is an error.
  world.box.store = { [Symbol.asyncDispose]: () => Promise.resolve() } as typeof world.box.store;
  await world.box.reopen();
  await vi.waitFor(() => expect(indexedAccounts(file)).toBe(1), { timeout: 40_000, interval: 200 });
});
