import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dueMessages } from '../../mail/delivery/scheduled-messages.ts';
import { AGENT_STOPPED } from '../../mail/store/queue/queue-change.ts';
import { holdAgentMail, holdMore, continueHolds, STOPPED_ON_REQUEST } from '../../mail/agents/freeze/hold.ts';
import { type ReleaseRequest, releaseStopped } from '../../mail/agents/freeze/release.ts';
import { purgeAgentSends } from '../../mail/agents/gate/send-log.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { beginAttempts } from '../../mail/store/queue/queue.ts';
import { dueRows } from '../../mail/store/queue/due-rows.ts';
import { changeQueue } from '../../mail/store/queue/queue-change.ts';
import { GateWorld } from '../support/gate-world.ts';

const DAY = 24 * 3_600_000;

/** The agent whose mail is held; null: all agents of the tenant. */
interface HoldTarget {
  tenant: number;
  credential: string | null;
}

const stop = command('test-stop', (tx, { tenant, credential }: HoldTarget, stamp) =>
  holdAgentMail(tx, tenant, [credential], stamp),
);
const release = command(
  'test-release',
  (tx, { tenant, credential, from }: HoldTarget & Pick<ReleaseRequest, 'from'>, stamp) =>
    releaseStopped(
      tx,
      { tenant, credentials: credential === null ? null : [credential], ...(from !== undefined && { from }) },
      stamp,
    ),
);
/** Rows of the queue that are held again, as when their agent was stopped. */
const again = command('test-hold-again', async (tx, ids: readonly number[]): Promise<void> => {
  for (const id of ids) await tx.run('UPDATE queue SET state = 1, hold_reason = ? WHERE id = ?', AGENT_STOPPED, id);
});
const rowsHeld = query('test-held', async (rx): Promise<number[]> => {
  const held = await rx.all<{ id: number }>(
    'SELECT id FROM queue WHERE state = 1 AND hold_reason IN (?, ?) ORDER BY id',
    AGENT_STOPPED,
    STOPPED_ON_REQUEST,
  );
  return held.map(({ id }) => id);
});
const counted = query('test-sends', async (rx): Promise<number> => {
  return (await rx.get<{ n: number }>('SELECT count(*) AS n FROM agent_send'))?.n ?? 0;
});

const countedHolds = query('test-holds', async (rx): Promise<number> => {
  return (await rx.get<{ n: number }>('SELECT count(*) AS n FROM agent_hold'))?.n ?? 0;
});

let world: GateWorld;
beforeEach(async () => {
  world = await GateWorld.open([stop, release, again]);
});
afterEach(() => world[Symbol.asyncDispose]());

const ALL: HoldTarget = { tenant: 1, credential: null };
const sendMany = (count: number, credential = 'tok_1'): Promise<unknown> =>
  Promise.all(
    Array.from({ length: count }, (_, i) =>
      world.send([`${i}-${credential}@x.test`], { credential, reader: credential }),
    ),
  );
const held = (): Promise<number[]> => world.box.store.read(rowsHeld, undefined);
const begin = (ids: readonly number[]): Promise<number[]> =>
  world.box.store.write(beginAttempts, { items: ids.map((id) => ({ id, nextAt: world.box.clock.now + DAY })) });
const finish = async (): Promise<void> => {
  while (await world.box.store.write(continueHolds, undefined));
};
const due = async (): Promise<number[]> => {
  const now = world.box.clock.now;
  const look = { now, horizon: now + DAY, limit: 5000, lanes: [], owners: [], after: undefined };
  const { rows } = await world.box.store.read(dueRows, look);
  return rows.map(({ id }) => id);
};

describe('all mail of an agent that is stopped', () => {
  test('is held, however much it is, though the process ends in the middle', { timeout: 240_000 }, async () => {
    await sendMany(1203);
    const ids = Array.from({ length: 1203 }, (_, i) => i + 1);
    expect(await world.box.store.write(stop, { tenant: 1, credential: 'tok_1' })).toBe(500);
    expect(await held()).toEqual(ids.slice(703));
    // Mail that no slice has reached yet does not leave: it is held when it is due.
    expect(await begin([1, 2])).toEqual([]);
    expect(await held()).toHaveLength(502);
    await world.box.reopen();
    expect(await begin([3])).toEqual([]);
    await finish();
    expect(await held()).toEqual(ids);
    expect(await due()).toEqual([]);
  });

  test('is let go in the order in which it was sent', { timeout: 240_000 }, async () => {
    await sendMany(1203);
    await world.box.store.write(stop, ALL);
    await finish();
    const slices: number[] = [];
    for (let from: ReleaseRequest['from']; ;) {
      const { released, next } = await world.box.store.write(release, { ...ALL, ...(from !== undefined && { from }) });
      slices.push(released);
      if (next === null) break;
      from = next;
    }
    expect(slices).toEqual([500, 500, 203]);
    expect(await held()).toEqual([]);
    expect(await due()).toEqual(Array.from({ length: 1203 }, (_, i) => i + 1));
  });

  test('is let go from where it was, and after a crash from the first that is held', { timeout: 240_000 }, async () => {
    await sendMany(503);
    await world.box.store.write(stop, ALL);
    await finish();
    const { next } = await world.box.store.write(release, ALL);
    expect(next).toMatchObject({ whole: null, queued: 500 });
    await world.box.store.write(again, [1]);
    await world.box.reopen();
    // A continued release does not look back; a new one does.
    const on = { ...ALL, ...(next !== null && { from: next }) };
    expect(await world.box.store.write(release, on)).toEqual({ released: 3, next: null });
    expect(await held()).toEqual([1]);
    expect(await world.box.store.write(release, ALL)).toEqual({ released: 1, next: null });
  });

  test('stays held from where it was when somebody stops it again in the middle', { timeout: 240_000 }, async () => {
    await sendMany(503);
    await sendMany(3, 'tok_2');
    await world.box.store.write(stop, ALL);
    await finish();
    const { next } = await world.box.store.write(release, ALL);
    const goOn = (over: Partial<HoldTarget>) =>
      world.box.store.write(release, { ...ALL, ...over, ...(next !== null && { from: next }) });
    // All of it is held with the stop itself.
    await world.box.store.write(stop, { tenant: 1, credential: 'tok_2' });
    expect(await world.box.store.write(holdMore, { tenant: 1 })).toEqual({ held: 0, more: false });
    world.box.clock.now += 5 * 60_000;
    await finish();
    expect(await goOn({})).toEqual({ released: 0, next: null });
    expect(await goOn({ credential: 'tok_2' })).toEqual({ released: 0, next: null });
    expect(await goOn({ credential: 'tok_1' })).toEqual({ released: 3, next: null });
    expect(await held()).toEqual([504, 505, 506]);
    await world.box.store.write(stop, ALL);
    await finish();
    expect(await held()).toHaveLength(506);
    // A later release by a person overrides the stop, also for one of the agents that were stopped together.
    const one = { tenant: 1, credential: 'tok_1' };
    const { next: place } = await world.box.store.write(release, one);
    expect(place).not.toBeNull();
    const on = { ...one, ...(place !== null && { from: place }) };
    expect(await world.box.store.write(release, on)).toEqual({ released: 3, next: null });
    expect(await held()).toEqual([504, 505, 506]);
  });

  test('is known as stopped for a while, and not for ever', async () => {
    await sendMany(1);
    await world.box.store.write(stop, ALL);
    const holds = (): Promise<number> => world.box.store.read(countedHolds, undefined);
    expect(await holds()).toBe(1);
    world.box.clock.now += 11 * 60_000;
    await finish();
    expect(await holds()).toBe(0);
  });

  test('is its own, and nothing that it sends after it was let work again', async () => {
    await sendMany(3);
    await sendMany(3, 'tok_2');
    await world.sendManually(['by-hand@x.test']);
    expect(await world.box.store.write(stop, { tenant: 1, credential: 'tok_2' })).toBe(3);
    expect(await world.box.store.write(stop, { tenant: 2, credential: null })).toBe(0);
    expect(await held()).toEqual([4, 5, 6]);
    await world.send(['later@x.test'], { credential: 'tok_2', reader: 'tok_2' });
    expect(await due()).toEqual([1, 2, 3, 7, 8]);
    await world.box.store.write(stop, { tenant: 1, credential: 'tok_1' });
    expect(await world.box.store.write(release, { tenant: 1, credential: 'tok_2' })).toMatchObject({ released: 3 });
    expect(await held()).toEqual([1, 2, 3]);
  });

  test('does not leave when what it was held for before ends, nor when its time comes', async () => {
    await sendMany(2);
    const sendAt = world.box.clock.now + 1000;
    await world.send(['waits@x.test'], {}, { sendAt });
    const all = { ids: 'all', tenant: 1, accounts: null } as const;
    await world.box.store.write(changeQueue, { ...all, what: 'hold' });
    expect(await world.box.store.write(stop, ALL)).toBe(3);
    expect(await world.box.store.write(changeQueue, { ...all, what: 'release', byToken: true })).toMatchObject({
      changed: 0,
    });
    expect(await held()).toEqual([1, 2]);
    expect(await world.box.store.read(dueMessages, { now: sendAt })).toMatchObject({ due: [] });
    await world.box.store.write(release, ALL);
    const { due: left } = await world.box.store.read(dueMessages, { now: sendAt });
    expect(left).toHaveLength(1);
  });

  test('stays held where a person wanted that before, and a token lets none of it go', async () => {
    await sendMany(3);
    const steer = { tenant: 1, accounts: null } as const;
    await world.box.store.write(changeQueue, { ...steer, ids: [2], what: 'hold' });
    expect(await world.box.store.write(stop, ALL)).toBe(3);
    expect(await world.box.store.write(stop, ALL)).toBe(0);
    expect(
      await world.box.store.write(changeQueue, { ...steer, ids: [2], what: 'release', byToken: true }),
    ).toMatchObject({ changed: 0 });
    expect(await world.box.store.write(release, ALL)).toEqual({ released: 2, next: null });
    expect(await due()).toEqual([1, 3]);
    await world.box.store.write(changeQueue, { ...steer, ids: [2], what: 'release' });
    expect(await due()).toEqual([1, 2, 3]);
  });

  test('is found as long as it has not left', async () => {
    await sendMany(2);
    await world.box.store.write(changeQueue, { ids: [1], what: 'cancel', tenant: 1, accounts: null });
    world.box.clock.now += 31 * DAY;
    await world.box.store.write(purgeAgentSends, undefined);
    expect(await world.box.store.read(counted, undefined)).toBe(1);
    expect(await world.box.store.write(stop, ALL)).toBe(1);
  });

  test('is held in a slice for each 500 messages, and more where they have more recipients', async () => {
    await world.send(Array.from({ length: 600 }, (_, i) => `many-${i}@x.test`));
    await sendMany(999);
    const slices = [await world.box.store.write(stop, ALL)];
    for (let more = true; more;) {
      const done = await world.box.store.write(holdMore, { tenant: 1 });
      slices.push(done.held);
      ({ more } = done);
    }
    // The older half of the messages has 1,099 rows; nothing is left, which the last slice finds.
    expect(slices).toEqual([500, 500, 500, 99, 0, 0]);
    expect(await held()).toHaveLength(1599);
  });

  test('is counted for whom it is asked', async () => {
    await sendMany(501);
    await world.box.store.write(stop, ALL);
    expect(await world.box.store.write(holdMore, { tenant: 2 })).toEqual({ held: 0, more: false });
    let count = 0;
    for (let more = true; more;) {
      const done = await world.box.store.write(holdMore, { tenant: 1 });
      count += done.held;
      ({ more } = done);
    }
    expect(count).toBe(1);
  });
});
