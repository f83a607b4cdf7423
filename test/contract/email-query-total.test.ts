import { afterEach, expect, test, vi } from 'vitest';
import { createJmapFixture } from '../support/jmap-fixture.ts';
import { putMessage } from '../support/jmap-mail.ts';
import { onPostgres } from '../support/test-database.ts';

afterEach(() => vi.restoreAllMocks());

/** Makes each look at the clock so much later than the one before, ms. */
function slow(step: number): void {
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => (now += step));
}

// The clock jumps at each look, and the client of PostgreSQL looks at it too.
test.skipIf(onPostgres)('a total that takes too long to count is left out, and the results are not', async () => {
  await using world = await createJmapFixture();
  for (let n = 0; n < 200; n++) await putMessage(world, { receivedAt: 1_000 + n });
  const queried = { filter: { minSize: 1 }, limit: 10, calculateTotal: true };
  const whole = await world.call('Email/query', queried);
  expect(whole).toMatchObject({ total: 200, position: 0 });
  slow(400);
  const cut = await world.call('Email/query', queried);
  const { total: _total, ...rest } = whole;
  expect(cut).toEqual(rest);
  // Where an end has to be found first, nothing can be left out.
  const last = await world.call('Email/query', { ...queried, position: -5 });
  expect(last).toMatchObject({ position: 195, total: 200 });
});
