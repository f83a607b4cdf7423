import { afterEach, beforeEach, expect, test } from 'vitest';
import { addBan } from '../../../mail/store/limit/ban.ts';
import { operatorCaller } from '../../../src/core/caller.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { perform } from '../../../src/operations/perform.ts';
import { testGuard } from '../../support/guard.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';

const OFFICE = '192.0.2.7';
const attempt = { network: OFFICE, account: 'me' };

let box: TestWorld;
beforeEach(async () => {
  box = await testWorld();
  const { clock, store } = box.world;
  const offences = { logins: 100, recipients: 35, scans: 30, loitering: 150 };
  const guard = testGuard({ offences }, { clock, saveBan: (offender) => store.write(addBan, offender) });
  box.world = { ...box.world, guard };
});
afterEach(() => box[Symbol.asyncDispose]());

/** Wrong passwords from one address: fifty through the day, and what is tried on top. */
function fail(times: number): void {
  const { throttle, guard, clock } = box.world;
  for (let i = 0; i < times; i++) {
    throttle.admit(attempt, clock());
    guard.addOffence(OFFICE, 'logins');
    box.store.clock.now += 10_000;
  }
}

async function lift(): Promise<unknown> {
  const operation = findOperation('remove_ban') ?? expect.fail('remove_ban');
  const done = await perform(box.world, operation, operatorCaller(), { address: OFFICE });
  return done.kind === 'done' ? done.result : done;
}

test('a ban that is lifted lets logins in at once, and not only connections', async () => {
  fail(100);
  await new Promise(setImmediate);
  const { throttle, guard, clock } = box.world;
  expect(guard.banned(OFFICE)).toMatchObject({ offence: 'logins' });
  expect(throttle.check(attempt, clock())).toMatchObject({ kind: 'throttled' });
  expect(await lift()).toEqual({ removed: true, network: OFFICE });
  expect(guard.banned(OFFICE)).toBeUndefined();
  expect(throttle.check(attempt, clock())).toEqual({ kind: 'go', delay: 0 });
});

test('where no ban stands, who must wait for a day may try again too', async () => {
  fail(50);
  const { throttle, clock } = box.world;
  expect(throttle.check(attempt, clock())).toMatchObject({ kind: 'throttled' });
  expect(await lift()).toEqual({ removed: false, network: OFFICE });
  expect(throttle.check(attempt, clock())).toEqual({ kind: 'go', delay: 0 });
});
