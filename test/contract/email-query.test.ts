import { expect, test } from 'vitest';
import { Garden } from '../support/mail-garden.ts';
import { filters, KEYWORDS, sorts, specs } from '../support/mail-seeds.ts';
import { createJmapFixture } from '../support/jmap-fixture.ts';
import { naiveQuery } from '../support/naive-query.ts';
import { assert, asyncProperty, boolean, constant, integer, oneof, record, sample } from '../support/fast-check.ts';

/** Some messages, some of them answers, in three mailboxes, with flags, copies, and what is \Deleted. */
async function grow(garden: Garden, count: number, seed: number): Promise<void> {
  const random = sample(integer({ min: 0, max: 1_000_000 }), { numRuns: 8 * count, seed });
  const next = (below: number): number => (random.pop() ?? 0) % below;
  const ids: string[] = [];
  const box = (): number => garden.mailboxes[next(garden.mailboxes.length)] ?? 0;
  for (const spec of sample(specs, { numRuns: count, seed })) {
    const answered = ids[next(ids.length + 3)];
    const subject = answered === undefined ? spec.subject : 'Re: thread';
    ids.push(
      await garden.append({ ...spec, subject, ...(answered !== undefined && { answers: answered }) }, box(), [
        KEYWORDS[next(9)] ?? 'work',
      ]),
    );
  }
  for (let i = 0; i < count / 4; i++) {
    await garden.flag(box(), next(count), 'add', [['$seen', '\\deleted', 'later', '$flagged'][next(4)] ?? '']);
    await garden.copy(box(), next(count), box(), next(2) === 0);
  }
}

test('every filter and every sort answers what looking at every email would', async () => {
  await using world = await createJmapFixture();
  const garden = await Garden.plant(world);
  await grow(garden, 120, 1);
  const all = await garden.all();
  const queried = record({ filter: filters(garden), sort: sorts, collapseThreads: boolean() });
  await assert(
    asyncProperty(queried, async ({ filter, sort, collapseThreads }) => {
      const naive = naiveQuery(all, filter, sort, collapseThreads).map(({ id }) => id);
      const found = await world.call('Email/query', { filter, sort, collapseThreads, calculateTotal: true });
      expect(found['ids']).toEqual(naive);
      expect(found['total']).toBe(naive.length);
    }),
    { numRuns: 500, seed: 7 },
  );
}, 180_000);

test('position, anchor and limit cut the same results', async () => {
  await using world = await createJmapFixture();
  const garden = await Garden.plant(world);
  await grow(garden, 60, 2);
  const offset = integer({ min: -70, max: 70 });
  const queried = record({
    filter: filters(garden),
    sort: sorts,
    collapseThreads: boolean(),
    position: offset,
    limit: oneof(constant(null), integer({ min: 0, max: 70 })),
    calculateTotal: boolean(),
    anchorOffset: offset,
    anchorAt: oneof(constant(null), integer({ min: 0, max: 60 })),
  });
  await assert(
    asyncProperty(queried, async ({ anchorAt, ...args }) => {
      const naive = naiveQuery(await garden.all(), args.filter, args.sort, args.collapseThreads).map(({ id }) => id);
      const anchor = anchorAt === null ? null : (naive[anchorAt] ?? 'm9999');
      const at = anchor === null ? -1 : naive.indexOf(anchor);
      if (anchor !== null && at < 0) {
        expect(await world.refusal('Email/query', { ...args, anchor })).toMatchObject({ type: 'anchorNotFound' });
        return;
      }
      const from =
        anchor === null ? (args.position < 0 ? naive.length + args.position : args.position) : at + args.anchorOffset;
      const start = Math.max(0, from);
      const found = await world.call('Email/query', { ...args, anchor });
      expect(found['ids']).toEqual(naive.slice(start, start + (args.limit ?? 5000)));
      expect(found['position']).toBe(start);
      expect(found['total']).toBe(args.calculateTotal ? naive.length : undefined);
    }),
    { numRuns: 250, seed: 11 },
  );
}, 180_000);
