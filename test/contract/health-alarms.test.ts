import { expect, test } from 'vitest';
import { type HealthCheck, healthy, unhealthy } from '../../src/doctor/health-check.ts';
import {
  lastHealth,
  QUIET_MS,
  recordHealth,
  recordHealthNotice,
  unnotifiedFailures,
} from '../../src/doctor/health-commands.ts';
import { failingCheckNotices } from '../../src/doctor/notice-source.ts';
import { testStore } from '../support/store.ts';
import { storeParts } from '../../src/start/store-parts.ts';

const ok = healthy('disk', 'Fine.');
const failed = unhealthy('disk', 'failed', 'Full.', 'Free space.');
const unknown = unhealthy('disk', 'unknown', 'Not known.', '');
const HOUR = 3_600_000;

async function world() {
  const { store, clock, [Symbol.asyncDispose]: dispose } = await testStore(storeParts());
  const run = async (...checks: HealthCheck[]): Promise<string[]> => {
    clock.now += HOUR;
    await store.write(recordHealth, { checks });
    return store.read(unnotifiedFailures, { now: clock.now });
  };
  const tell = () => store.write(recordHealthNotice, { names: ['disk'], notices: [] });
  return { store, clock, run, tell, [Symbol.asyncDispose]: dispose };
}

test('a check that turns to failed is reported once', async () => {
  await using made = await world();
  expect(await made.run(ok)).toEqual([]);
  expect(await made.run(failed)).toEqual(['disk']);
  expect(await made.tell()).toEqual({ marked: 1 });
  expect(await made.tell()).toEqual({ marked: 0 });
  expect(await made.run(failed)).toEqual([]);
});

test('a check that flaps causes one letter a day', async () => {
  await using made = await world();
  await made.run(failed);
  await made.tell();
  expect(await made.run(ok)).toEqual([]);
  expect(await made.run(failed)).toEqual([]);
  made.clock.now += QUIET_MS;
  expect(await made.run(failed)).toEqual(['disk']);
});

test('an unknown result neither ends nor begins a failure', async () => {
  await using made = await world();
  expect(await made.run(unknown)).toEqual([]);
  await made.run(failed);
  const since = (await made.store.read(lastHealth, undefined))?.failedSince.get('disk');
  await made.run(unknown);
  await made.run(failed);
  expect((await made.store.read(lastHealth, undefined))?.failedSince.get('disk')).toBe(since);
});

test('a check that recovered leaves no trace after a day', async () => {
  await using made = await world();
  await made.run(failed);
  await made.tell();
  made.clock.now += QUIET_MS;
  await made.run(ok);
  expect((await made.store.read(lastHealth, undefined))?.failedSince.size).toBe(0);
  expect(await made.run(failed)).toEqual(['disk']);
});

test('one letter names all that began to fail, with what to do', async () => {
  await using made = await world();
  await made.run(failed, unhealthy('queue', 'failed', 'Stuck.', 'Restart.'), ok);
  const source = failingCheckNotices({
    store: made.store,
    clock: () => made.clock.now,
    settings: { hostname: 'mail.box.example' },
  } as never);
  const due = [];
  for await (const one of source.due()) due.push(one);
  expect(due.map((one) => one.map(({ name }) => name))).toEqual([['disk', 'queue']]);
});
