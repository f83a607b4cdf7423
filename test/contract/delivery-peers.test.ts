import { afterEach, beforeEach, expect, test } from 'vitest';
import { finishAttempts } from '../../mail/relay/store-queue.ts';
import { isDeliveryPeer, purgePeers } from '../../mail/store/queue/delivery-peer.ts';
import type { AttemptResult } from '../../mail/store/queue/queue.ts';
import { testStore, type TestStore } from '../support/store.ts';

const DAY_MS = 24 * 3600_000;

let box: TestStore;
beforeEach(async () => {
  box = await testStore();
});
afterEach(() => box[Symbol.asyncDispose]());

async function finish(...ends: Partial<AttemptResult>[]): Promise<void> {
  const result: AttemptResult = {
    id: 1,
    trace: 't1',
    to: 'you@shop.example',
    outcome: 'delivered',
    host: 'mx1.mail.google.com',
    ip: '',
    code: 250,
    status: '2.0.0',
    text: 'Ok',
    tls: 'none',
    at: 1,
    nextAt: 0,
  };
  const all = ends.map((one, at) => ({ ...result, id: at + 1, ...one }));
  await box.store.write(finishAttempts, { ends: all, bounces: [], fallbacks: [] });
}
const isPeer = (...domains: string[]) => box.store.read(isDeliveryPeer, { domains, now: box.clock.now });

test('the domains of the recipient and of the server that took the message are peers', async () => {
  await finish({});
  for (const domain of ['shop.example', 'google.com', 'mail.google.com'])
    expect(await isPeer(domain), domain).toBe(true);
  for (const domain of ['op.example', 'x.shop.example', 'oogle.com', 'mail.google.co', 'x.google.com']) {
    expect(await isPeer(domain), domain).toBe(false);
  }
  expect(await isPeer('other.example', 'shop.example')).toBe(true);
  expect(await isPeer()).toBe(false);
});

test('neither automatic nor refused mail makes a peer', async () => {
  await finish({ automatic: true }, { outcome: 'failed' }, { outcome: 'deferred' });
  expect(await isPeer('shop.example')).toBe(false);
});

test('a peer is forgotten after 60 days without mail', async () => {
  await finish({});
  box.clock.now += 59 * DAY_MS;
  expect(await isPeer('shop.example')).toBe(true);
  await finish({ to: 'me@shop.example', host: '' });
  box.clock.now += 60 * DAY_MS;
  await box.store.write(purgePeers, undefined);
  expect([await isPeer('shop.example'), await isPeer('google.com')]).toEqual([true, false]);
  box.clock.now += DAY_MS;
  expect(await isPeer('shop.example')).toBe(false);
});
