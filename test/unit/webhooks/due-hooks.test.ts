import { afterEach, beforeEach, expect, test } from 'vitest';
import { command, query } from '../../../mail/store/engine/types.ts';
import { dueWebhooks, nextNotice } from '../../../src/webhooks/queries.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';
import { cpuOf } from '../../support/cost.ts';

/** So many webhooks of the operator, each with two notices: the first waits for a later time, as does what is set aside. */
const fill = command('test-fill', async (tx, { count, at }: { count: number; at: number }): Promise<void> => {
  await tx.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO listener (id, tenant, events) SELECT i, 1, '[]' FROM n`,
    count,
  );
  await tx.run(
    `INSERT INTO webhook (listener_id, organization_id, url, secret, created_at)
     SELECT id, 1, 'https://h' || id || '.example/', x'', 0 FROM listener`,
  );
  await tx.run(
    `INSERT INTO webhook_event (listener_id, event, trace, detail, at, next_at, state)
     SELECT l.id, 'submitted', '', '{}', 0, ?1 + l.id + s.value, s.value FROM listener l, json_each('[0, 1]') s`,
    at,
  );
});
const put = command('test-put', (tx, input: { listener: number; at: number; state: number }) =>
  tx.run(
    `INSERT INTO webhook_event (listener_id, event, trace, detail, at, next_at, state) VALUES (?, 'submitted', '', '{}', 0, ?, ?)`,
    input.listener,
    input.at,
    input.state,
  ),
);
const move = command('test-move', (tx, input: { id: number; at: number; state: number }) =>
  tx.run('UPDATE webhook_event SET next_at = ?, state = ? WHERE id = ?', input.at, input.state, input.id),
);
const drop = command('test-drop', (tx, { id }: { id: number }) => tx.run('DELETE FROM webhook_event WHERE id = ?', id));
const kept = query('test-kept', (rx) =>
  rx.all<{ id: number; due_at: number | null }>('SELECT id, due_at FROM listener ORDER BY id'),
);
const noticed = query('test-noticed', (rx) =>
  rx.all<{ id: number; listener_id: number; next_at: number; state: number }>(
    'SELECT id, listener_id, next_at, state FROM webhook_event ORDER BY id',
  ),
);

let box: TestWorld;
beforeEach(async () => {
  box = await testWorld({}, [fill, put, move, drop]);
});
afterEach(() => box[Symbol.asyncDispose]());

test('a look costs the same before 20,000 webhooks that wait for later', async () => {
  const { store } = box.world;
  const look = async (): Promise<number[]> => {
    const due = await store.read(dueWebhooks, { now: 10, not: [], limit: 1000 });
    await store.read(nextNotice, { not: [19_999] });
    return due.map((one) => one.listener);
  };
  const few = await cpuOf(look);
  await store.write(fill, { count: 20_000, at: 1_000_000 });
  const all = await store.read(noticed, undefined);
  const first = all.find((one) => one.listener_id === 19_999 && one.state === 0);
  await store.write(move, { id: first?.id ?? 0, at: 5, state: 0 });
  expect(await look()).toEqual([19_999]);
  expect(await store.read(nextNotice, { not: [19_999] })).toBe(1_000_001);
  expect(await cpuOf(look)).toBeLessThan(10 * few);
});

test('when a webhook is due follows its line and what is set aside, whatever happens to them', async () => {
  const { store } = box.world;
  await store.write(fill, { count: 3, at: 100 });
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let n = 0; n < 400; n++) {
    const all = await store.read(noticed, undefined);
    const one = all[random(all.length)];
    const next = { at: random(1000), state: random(4) };
    const what = random(3);
    if (what === 0 || one === undefined) await store.write(put, { listener: 1 + random(3), ...next });
    else if (what === 1) await store.write(move, { id: one.id, ...next });
    else await store.write(drop, { id: one.id });
    const rows = await store.read(noticed, undefined);
    const due = [1, 2, 3].map((id) => {
      const mine = rows.filter((row) => row.listener_id === id);
      const aside = mine.filter((row) => row.state === 1).map((row) => row.next_at);
      const head = mine.find((row) => row.state === 0)?.next_at;
      const times = head === undefined ? aside : [head, ...aside];
      return { id, due_at: times.length === 0 ? null : Math.min(...times) };
    });
    expect(await store.read(kept, undefined)).toEqual(due);
  }
});
