import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openMetrics } from '../../../src/core/metrics.ts';
import { purgeServerHours, recordServerHour } from '../../../src/history/commands.ts';
import { HistoryJob } from '../../../src/history/history-job.ts';
import { serverHours, deliveryPercentile, HOUR_MS, joinHours } from '../../../src/history/queries.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';

let box: TestWorld;

beforeEach(async () => {
  box = await testWorld();
});
afterEach(() => box[Symbol.asyncDispose]());

const hours = async () => [...(await box.world.store.read(serverHours, { from: 0 })).values()];

describe('the history of the server', () => {
  test('stores what the metrics counted since the last run, once', async () => {
    const metrics = openMetrics();
    const job = new HistoryJob({ store: box.world.store, metrics, clock: box.world.clock });
    for (const seconds of [0.3, 4, 4, 2000]) metrics.observe('relay_queued_seconds', seconds, { outcome: 'delivered' });
    metrics.observe('relay_queued_seconds', 4, { outcome: 'failed' });
    metrics.count('smtp_messages_total', { service: 'mx', outcome: 'accepted' }, 3);
    metrics.count('smtp_messages_total', { service: 'mx', outcome: 'rejected' });
    await job.run();
    await job.run();
    metrics.count('smtp_messages_total', { service: 'mx', outcome: 'accepted' });
    await job.run();
    expect(await hours()).toEqual([
      {
        'delivered-in-0.5': 1,
        'delivered-in-5': 2,
        'delivered-in-3600': 1,
        'queue-due': 0,
        'queue-oldest-seconds': 0,
        'smtp-accepted': 4,
        'smtp-rejected': 1,
      },
    ]);
  });

  test('a commit that failed loses no count: the next run stores it', async () => {
    const metrics = openMetrics();
    let isBroken = true;
    const { store: whole } = box.world;
    const store = {
      scan: whole.scan.bind(whole),
      write: (...input: Parameters<typeof whole.write>) =>
        isBroken ? Promise.reject(new Error('the disk is full')) : whole.write(...input),
    } as Pick<typeof whole, 'scan' | 'write'>;
    const job = new HistoryJob({ store, metrics, clock: box.world.clock });
    metrics.count('smtp_messages_total', { service: 'mx', outcome: 'accepted' }, 2);
    await expect(job.run()).rejects.toThrow('the disk is full');
    isBroken = false;
    await job.run();
    expect(await hours()).toMatchObject([{ 'smtp-accepted': 2 }]);
  });

  test('maxima rise, sums grow, and hours of more than 90 days ago are purged', async () => {
    const { store, clock } = box.world;
    const hour = Math.floor(clock() / HOUR_MS);
    for (const numbers of [
      { 'queue-due': 5, 'smtp-accepted': 5 },
      { 'queue-due': 3, 'smtp-accepted': 3 },
    ]) {
      await store.write(recordServerHour, { hour, numbers });
    }
    await store.write(recordServerHour, { hour: hour - 91 * 24, numbers: { 'queue-due': 1 } });
    expect(await store.write(purgeServerHours, undefined)).toBe(false);
    expect(await hours()).toEqual([{ 'queue-due': 5, 'smtp-accepted': 8 }]);
  });

  test('percentiles are the upper end of the interval that they fall into', () => {
    const numbers = { 'delivered-in-1': 90, 'delivered-in-60': 9, 'delivered-in-3600': 1 };
    expect([0.5, 0.95, 1].map((share) => deliveryPercentile(numbers, share))).toEqual([1, 60, 3600]);
    expect(deliveryPercentile({}, 0.5)).toBeNull();
    expect(
      joinHours([
        { 'queue-due': 2, 'smtp-accepted': 1 },
        { 'queue-due': 1, 'smtp-accepted': 1 },
      ]),
    ).toEqual({
      'queue-due': 2,
      'smtp-accepted': 2,
    });
  });
});
