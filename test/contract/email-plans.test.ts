import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { factsOf } from '../../mail/jmap/query/facts.ts';
import type { Read } from '../../mail/store/engine/types.ts';
import { shownEntries } from '../../mail/store/shown-entries.ts';
import { putMessage } from '../support/jmap-mail.ts';
import { type JmapWorld, jmapWorld } from '../support/jmap-world.ts';

/** Reads, and writes down how each statement goes about it. */
function explaining(world: JmapWorld): { rx: Read; plans: string[][]; close: () => void } {
  const db = new DatabaseSync(join(world.box.dataDir, 'mailstead.db'), { readOnly: true });
  const plans: string[][] = [];
  const all = (sql: string, ...params: never[]): Promise<never> => {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...params);
    plans.push(plan.map(({ detail }) => String(detail)));
    return Promise.resolve(db.prepare(sql).all(...params) as never);
  };
  const rx = { all, get: async (sql: string, ...params: never[]) => ((await all(sql, ...params)) as unknown[])[0] };
  return { rx: rx as unknown as Read, plans, close: () => db.close() };
}

test.each([
  ['shown entries', shownEntries],
  ['facts', factsOf],
])('%s of a few emails do not read all entries of the account, nor look into each mailbox', async (_what, read) => {
  await using world = await jmapWorld();
  await putMessage(world);
  const emails = [world.account * 2 ** 32 + 1, world.account * 2 ** 32 + 1];
  const { rx, plans, close } = explaining(world);
  expect(await read(rx, world.account, emails)).toHaveLength(1);
  const [plan] = plans;
  expect(plan?.filter((step) => step.startsWith('SEARCH n '))).toEqual([
    'SEARCH n USING INDEX entry_email (email_id=?)',
  ]);
  close();
});
