import { expect, test } from 'vitest';
import { Garden } from '../support/mail-garden.ts';
import { filters, KEYWORDS, sorts, specs } from '../support/mail-seeds.ts';
import { type JmapFixture, createJmapFixture } from '../support/jmap-fixture.ts';
import { sample } from '../support/fast-check.ts';

interface Watched {
  args: Record<string, unknown>;
  state: string;
  ids: string[];
}

async function watch(world: JmapFixture, args: Record<string, unknown>): Promise<Watched> {
  const { queryState, ids, canCalculateChanges } = await world.call('Email/query', args);
  expect(canCalculateChanges).toBe(true);
  return { args, state: queryState as string, ids: ids as string[] };
}

const spec = { subject: 's', from: 'a@box.test', to: 'b@box.test', body: 'apple', sentAt: 1e12, receivedAt: 1e12 };

/** Applies a /queryChanges response as a client does. RFC 8620 5.6. */
function apply(ids: readonly string[], changes: Record<string, unknown>): string[] {
  const removed = new Set(changes['removed'] as string[]);
  const now = ids.filter((id) => !removed.has(id));
  for (const { id, index } of changes['added'] as { id: string; index: number }[]) now.splice(index, 0, id);
  return now;
}

test('old results and their changes are the new results, whatever happened', async () => {
  await using world = await createJmapFixture();
  const garden = await Garden.plant(world);
  let seed = 42;
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const box = (): number => garden.mailboxes[next(garden.mailboxes.length)] ?? 0;
  const seeds = sample(specs, { numRuns: 400, seed: 3 });
  const ids: string[] = [];
  const step = async (): Promise<void> => {
    const n = next(1000);
    switch (next(10)) {
      case 4:
        return next(3) === 0 ? garden.replace(n) : undefined;
      case 5:
        return next(2) === 0 ? garden.cleanUp() : undefined;
      default: {
        const spec = seeds[next(seeds.length)];
        const answers = ids[next(ids.length + 2)];
        if (spec === undefined) return;
        const answer = answers === undefined ? spec : { ...spec, subject: 'Re: thread', answers };
        ids.push(await garden.append(answer, box(), [KEYWORDS[next(9)] ?? 'later']));
      }
    }
  };
  for (let i = 0; i < 60; i++) await step();
  const queried = sample(filters(garden), { numRuns: 50, seed: 5 }).map((filter, i) => ({
    filter,
    sort: sample(sorts, { numRuns: 1, seed: i })[0] ?? null,
    collapseThreads: i % 2 === 0,
  }));
  const watched = await Promise.all(queried.map((args) => watch(world, args)));
  for (let round = 0; round < 30; round++) {
    for (let i = 0; i <= next(6); i++) await step();
    for (const one of watched) {
      if (next(3) === 0) continue; // some clients come later
      const args = { ...one.args, sinceQueryState: one.state, calculateTotal: true };
      const changes = await world.call('Email/queryChanges', args);
      const fresh = await watch(world, one.args);
      expect(apply(one.ids, changes), JSON.stringify(one.args)).toEqual(fresh.ids);
      expect(changes).toMatchObject({ oldQueryState: one.state, newQueryState: fresh.state, total: fresh.ids.length });
      Object.assign(one, fresh);
    }
  }
}, 180_000);

test('a large mailbox that is removed takes its emails out of results at once', async () => {
  await using world = await createJmapFixture();
  const garden = await Garden.plant(world);
  const work = garden.mailboxes[1] ?? 0;
  for (let i = 0; i < 450; i++) await garden.append({ ...spec, receivedAt: 1e12 + i }, work);
  await garden.append(spec, world.inbox);
  const before = await watch(world, { filter: { minSize: 1 } });
  await garden.replace(0);
  const changes = await world.call('Email/queryChanges', { ...before.args, sinceQueryState: before.state });
  expect(apply(before.ids, changes)).toEqual((await watch(world, before.args)).ids);
  expect(changes['removed']).toHaveLength(450);
  await garden.cleanUp();
  const after = await world.call('Email/queryChanges', { ...before.args, sinceQueryState: before.state });
  expect(apply(before.ids, after)).toHaveLength(1);
}, 180_000);

test('what lies behind upToId is left out only where places are settled', async () => {
  await using world = await createJmapFixture();
  const garden = await Garden.plant(world);
  for (let i = 0; i < 4; i++) await garden.append({ ...spec, receivedAt: 1e12 + i }, world.inbox);
  for (const [args, many] of [
    [{ filter: { text: 'apple' } }, 1],
    [{ filter: { inMailbox: `f${world.inbox.toString(36)}` } }, 2],
    [{ filter: { text: 'apple' }, collapseThreads: true }, 2],
  ] as const) {
    const { state, ids } = await watch(world, args);
    await garden.append({ ...spec, receivedAt: 2e12 }, world.inbox);
    await garden.append({ ...spec, receivedAt: 1e10 }, world.inbox);
    const more = { sinceQueryState: state, upToId: ids[1] };
    const changes = await world.call('Email/queryChanges', { ...args, ...more });
    expect(changes['added']).toHaveLength(many);
  }
});

test('states and counts that cannot be followed are refused by name', async () => {
  await using world = await createJmapFixture();
  const garden = await Garden.plant(world);
  await garden.append(spec, world.inbox);
  const { state } = await watch(world, {});
  const refused = async (args: Record<string, unknown>): Promise<unknown> =>
    (await world.refusal('Email/queryChanges', args))['type'];
  expect(await refused({ sinceQueryState: 'zzzzz' })).toBe('cannotCalculateChanges');
  expect(await refused({ sinceQueryState: 'not one' })).toBe('cannotCalculateChanges');
  expect(await refused({ sinceQueryState: '1-2-1' })).toBe('cannotCalculateChanges');
  expect(await refused({ sinceQueryState: state, maxChanges: 0 })).toBe('invalidArguments');
  expect(await refused({})).toBe('invalidArguments');
  await garden.append(spec, world.inbox);
  await garden.append(spec, world.inbox);
  expect(await refused({ sinceQueryState: state, maxChanges: 3 })).toBe('tooManyChanges');
  expect(await world.call('Email/queryChanges', { sinceQueryState: state, maxChanges: 4 })).toMatchObject({
    added: [{ index: 0 }, { index: 1 }],
  });
});
