import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mailParts } from '../../mail/store-thread-parts.ts';
import type { DueQuery, QueueItem } from '../../mail/relay/relay-queue.ts';
import { MAX_RETRY_DELAY } from '../../mail/relay/schedule.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { addRows, addSubmission } from '../../mail/store/queue/queue.ts';
import { queueRow } from '../../mail/store/queue/queue-rows.ts';
import { dueRows } from '../../mail/store/queue/due-rows.ts';
import { changeQueue } from '../../mail/store/queue/queue-change.ts';
import { testStore, type TestStore } from '../support/store.ts';
import { onPostgres } from '../support/test-database.ts';
import { cpuOf } from '../support/cost.ts';

interface Filling {
  tenant: number;
  account: number | null;
  rows: number;
  /** `{}` in it is the row's number. */
  domain: string;
  nextAt: number;
}

/** A message of `rows` recipients. */
const fill = command('test-fill', async (tx, input: Filling, stamp): Promise<number[]> => {
  const { tenant, account, nextAt } = input;
  const trace = `t${tenant}-${account}`;
  const message = { trace, tenant, account, blob: 0, sender: 'me@box.test', smtputf8: false, eightBit: false };
  const id = await addSubmission(tx, { ...message, ret: '', envid: '', signAs: [], size: 1 }, stamp);
  const rows = Array.from({ length: input.rows }, (_, n) => {
    const domain = input.domain.replace('{}', String(n));
    return { recipient: `u${n}@${domain}`, domain, notify: '', orcpt: '' };
  });
  const ids = await addRows(tx, { submission: id, trace, tenant, account }, rows, null, stamp);
  await tx.run('UPDATE queue SET next_at = ? WHERE submission_id = ? AND next_at <> ?', nextAt, id, nextAt);
  return ids;
});

const lanes = query('test-lanes', (rx) =>
  rx.all<{ owner: number; domain: string; next_at: number | null }>(
    'SELECT owner, domain, next_at FROM queue_lane ORDER BY owner, domain',
  ),
);

let box: TestStore;
let queue: StoreQueue;

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, fill] });
  queue = new StoreQueue({ store: box.store, hold: null, traceId: () => 'report' });
});
afterEach(() => box[Symbol.asyncDispose]());

const put = (change: Partial<Filling> = {}): Promise<number[]> =>
  box.store.write(fill, {
    tenant: 1,
    account: 1,
    rows: 1,
    domain: 'remote.example',
    nextAt: box.clock.now,
    ...change,
  });

async function look(change: Partial<DueQuery> = {}): Promise<QueueItem[]> {
  const all = { now: box.clock.now, limit: 200, lanes: [], owners: [], after: undefined };
  return (await queue.due({ ...all, ...change })).items;
}

const cost = (change: Partial<DueQuery> = {}): Promise<number> => cpuOf(() => look(change));

describe('a look', () => {
  // The processor time of PostgreSQL is not that of this process, and it takes a minute to store 20,000 rows.
  test.skipIf(onPostgres).each([
    ['rows that are not due', { nextAt: Date.UTC(2026, 0, 1) + 1 }, 1],
    ['due rows of one destination', {}, 50],
    ['due destinations', { domain: 'd{}.example' }, 50],
  ] as const)('costs the same before 20,000 %s', async (_name, change, limit) => {
    await put({ account: 2, rows: limit, ...change });
    await put({ account: 1 });
    // Ten times is far from what hundreds of times the rows would take.
    const most = 10 * (await cost({ limit }));
    await put({ account: 2, rows: 20_000, ...change });
    const held = (await look({ limit: 1000 })).filter((row) => row.owner === 2).map((row) => row.ownerDestination);
    expect(await cost({ limit })).toBeLessThan(most);
    expect(await cost({ limit, lanes: [...new Set(held)] })).toBeLessThan(most);
    expect(await cost({ limit, owners: [2] })).toBeLessThan(most);
  });

  test('meets every sender once before one has a second turn', async () => {
    await put({ account: 1, rows: 1000 });
    await put({ account: 2, rows: 2 });
    await put({ account: null, tenant: 3 });
    const met: number[][] = [];
    let after: number | undefined;
    do {
      const found = await queue.due({ now: box.clock.now, limit: 100, lanes: [], owners: [], after });
      met.push(found.items.map((row) => row.owner));
      after = found.next;
    } while (after !== undefined);
    expect(met.map((owners) => [...new Set(owners)])).toEqual([[-3, 1], [2]]);
  });

  test('goes on behind more senders than it walks over at once', async () => {
    for (let account = 1; account <= 120; account++) await put({ account });
    const found: number[] = [];
    let after: number | undefined;
    do {
      const { items, next } = await queue.due({ now: box.clock.now, limit: 200, lanes: [], owners: [], after });
      found.push(items.length);
      after = next;
    } while (after !== undefined);
    expect(found).toEqual([50, 50, 20]);
  });

  test('also finds what a clock that ran ahead has put off for years, tried or not', async () => {
    await put();
    await put({ nextAt: box.clock.now + MAX_RETRY_DELAY + 1 });
    await put({ nextAt: box.clock.now + MAX_RETRY_DELAY + 1, domain: 'other.example' });
    await put({ nextAt: box.clock.now + MAX_RETRY_DELAY, domain: 'third.example' });
    const found = await look();
    expect(found.map((row) => row.domain)).toEqual(['remote.example', 'remote.example', 'other.example']);
    expect(await look({ limit: 2 })).toHaveLength(2);
    expect(await look({ owners: [1] })).toEqual([]);
  });
});

describe('a lane', () => {
  test('follows its rows: held, released, tried, gone', async () => {
    const [first = 0, second = 0] = await put({ rows: 2 });
    const now = box.clock.now;
    const steer = (what: 'hold' | 'release' | 'cancel', ids: number[]) =>
      box.store.write(changeQueue, { ids, what, tenant: null, accounts: null });
    const head = async () => (await box.store.read(lanes, undefined)).map((lane) => lane.next_at);
    await queue.begin([{ id: first, nextAt: now + 5 }]);
    expect(await head()).toEqual([now]);
    await steer('hold', [second]);
    expect(await head()).toEqual([now + 5]);
    await steer('hold', [first]);
    expect(await head()).toEqual([null]);
    expect(await look()).toEqual([]);
    await steer('release', [second]);
    expect(await head()).toEqual([now]);
    await steer('cancel', [first, second]);
    expect(await box.store.read(lanes, undefined)).toEqual([]);
  });
});

test('the relay is given all that people are shown of a row', async () => {
  const [id = 0] = await put();
  const look = { now: box.clock.now, limit: 1, lanes: [], owners: [], after: undefined, horizon: MAX_RETRY_DELAY };
  const { rows } = await box.store.read(dueRows, look);
  const shown = await box.store.read(queueRow, { id });
  expect(rows[0]).toMatchObject({ ...shown });
});
