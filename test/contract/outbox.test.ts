import { afterEach, beforeEach, expect, test } from 'vitest';
import { listWaiting } from '../support/list-waiting.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { command } from '../../mail/store/engine/types.ts';
import { testStore, type TestStore } from '../support/store.ts';
import { cpuOf } from '../support/cost.ts';
import { onPostgres } from '../support/test-database.ts';

/** So many messages that wait; of every tenth account of the tenant, or of its programs. */
const fill = command('test-fill', async (tx, { tenant, count }: { tenant: number; count: number }): Promise<void> => {
  await tx.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
     INSERT INTO submission (trace, tenant, account_id, blob_id, sender, smtputf8, eight_bit, ret, envid, sign_as, size, created_at)
     SELECT ?3 || i, ?1, CASE i % 10 WHEN 0 THEN NULL ELSE ?1 * 10 + i % 10 END, 0, 'me@box.test', 0, 0, '', '', '', 1, i FROM n`,
    tenant,
    count,
    `${tenant}-`,
  );
  await tx.run(
    `INSERT INTO scheduled (submission_id, tenant, account_id, due_at, recipients)
     SELECT id, tenant, account_id, id, '["you@x.test"]' FROM submission WHERE tenant = ?`,
    tenant,
  );
});

let box: TestStore;
beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, fill] });
});
afterEach(() => box[Symbol.asyncDispose]());

const all = { tenant: 1, accounts: null, after: 0, limit: 7 };

async function pages(page: typeof all | (Omit<typeof all, 'accounts'> & { accounts: number[] })): Promise<string[]> {
  const seen: string[] = [];
  for (let { after } = page; ;) {
    const rows = await box.store.read(listWaiting, { ...page, after });
    seen.push(...rows.map((one) => one.trace));
    if (rows.length < page.limit) return seen;
    after = rows.at(-1)?.id ?? 0;
  }
}

test('page after page is everything once, of the tenant and of some of its accounts', async () => {
  await box.store.write(fill, { tenant: 2, count: 30 });
  await box.store.write(fill, { tenant: 1, count: 30 });
  const numbers = Array.from({ length: 30 }, (_, n) => n + 1);
  expect(await pages(all)).toEqual(numbers.map((n) => `1-${n}`));
  const mine = numbers.filter((n) => [3, 5].includes(n % 10)).map((n) => `1-${n}`);
  expect(await pages({ ...all, limit: 2, accounts: [15, 13, 99] })).toEqual(mine);
  expect(await pages({ ...all, accounts: [] })).toEqual([]);
  // An account of another tenant, whoever asks for it.
  expect(await pages({ ...all, accounts: [23] })).toEqual([]);
});

// The processor time of the calling thread, where SQLite runs.
test.skipIf(onPostgres)('a page costs the same before 40,000 messages of others and of its own', async () => {
  await box.store.write(fill, { tenant: 4, count: 20 });
  const few = await cpuOf(() => box.store.read(listWaiting, { ...all, tenant: 4 }));
  await box.store.write(fill, { tenant: 2, count: 20_000 });
  await box.store.write(fill, { tenant: 1, count: 20_000 });
  const queried = [all, { ...all, accounts: [13] }, { ...all, accounts: [99] }, { ...all, tenant: 3 }];
  for (const page of queried) {
    // Ten times is far from what a thousand times the rows would take.
    expect(await cpuOf(() => box.store.read(listWaiting, page))).toBeLessThan(10 * few);
  }
});
