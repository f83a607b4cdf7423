import { describe, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { newRamp, rampAfter, rampDecision, type RampState, reserveRamp, WARM_LEVEL } from '../../../mail/relay/ramp.ts';
import { RampBook } from '../../../mail/relay/ramp-book.ts';
import { startRelay } from '../../../mail/relay/relay.ts';
import { readRamp, saveRamp } from '../../../mail/store/queue/sending-ramp.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FakeQueue } from '../../support/fake-queue.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';
import { type Script, scriptedServer } from '../../support/scripted-smtp.ts';
import { testStore } from '../../support/store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 0, 5, 10, 20);
const at = (over: Partial<RampState> = {}): RampState => ({ ...newRamp('remote.test', NOW), ...over });

describe('the decision', () => {
  test.each<[string, RampState, number, number]>([
    ['a team of 30 that writes to one receiver at once', at(), 30, 30],
    ['200 recipients in the first hour', at(), 200, 200],
    ['the 201st', at(), 500, 200],
    ['some of the hour are sent', at({ sent: 150 }), 100, 50],
    ['all of the hour are sent', at({ sent: 200 }), 1, 0],
    ['more than the limit was sent before an objection', at({ level: 0, sent: 200 }), 1, 0],
    ['another hour', at({ sent: 200, hour: NOW / HOUR - 2 }), 500, 200],
    ['the clock was set back', at({ sent: 200, hour: 999_999_999 }), 500, 200],
    ['the second day', at({ level: 2 }), 9000, 400],
    ['the lowest level still sends', at({ level: 0 }), 500, 100],
    ['a known server', at({ level: WARM_LEVEL, sent: 1e9 }), 50_000, 50_000],
  ])('%s', (_name, state, wanted, count) => {
    expect(rampDecision(state, wanted, NOW)).toMatchObject({ count });
    expect(rampDecision(state, wanted, NOW).until).toBeLessThanOrEqual(NOW + HOUR);
  });

  test('what is reserved in an hour counts in that hour only', () => {
    const state = reserveRamp(reserveRamp(at(), 120, NOW), 80, NOW);
    expect(rampDecision(state, 1, NOW).count).toBe(0);
    expect(reserveRamp(state, 5, NOW + HOUR).sent).toBe(5);
  });
});

describe('answers', () => {
  const accepted = { accepted: 5, objections: 0 };
  const objection = { accepted: 0, objections: 3 };

  test.each<[string, RampState, { accepted: number; objections: number }, number, number]>([
    ['the same day changes nothing', at(), accepted, NOW + HOUR, 1],
    ['a day of accepted mail doubles the limit', at(), accepted, NOW + DAY, 2],
    ['a day without mail does not', at(), { accepted: 0, objections: 0 }, NOW + DAY, 1],
    ['an objection takes two levels', at({ level: 5 }), objection, NOW, 3],
    ['the lowest level is the end', at({ level: 1 }), objection, NOW, 0],
    ['objections of one burst are one', at({ level: 5, objectedAt: NOW - HOUR / 2 }), objection, NOW, 5],
    ['a known server stays known', at({ level: WARM_LEVEL }), objection, NOW, WARM_LEVEL],
  ])('%s', (_name, state, answers, now, level) => {
    expect(rampAfter(state, answers, now).level).toBe(level);
  });

  test('an objection ends the hour, and the next one sends again', () => {
    const state = rampAfter(at({ level: 4 }), objection, NOW);
    expect(rampDecision(state, 10, NOW).count).toBe(0);
    expect(rampDecision(state, 10, NOW + HOUR).count).toBe(10);
  });

  test('a server is known after 8 days of accepted mail', () => {
    let state = at();
    for (let day = 1; day <= 8; day++) state = rampAfter(state, accepted, NOW + day * DAY);
    expect(rampDecision(state, 1_000_000, NOW + 9 * DAY).count).toBe(1_000_000);
  });
});

/** A relay with a ramp at its first level, of which `sent` recipients are used up. */
function world(port: number, sent: number) {
  const clock = new FakeClock();
  const queue = new FakeQueue(() => clock.now());
  const ramp = new RampBook({
    organizationOf: (host) => host.replace(/^mx\./, ''),
    applies: () => true,
    stored: [{ ...newRamp('remote.test', clock.now()), sent }],
  });
  const relay = startRelay({
    queue,
    ramp,
    resolver: fakeResolver({ 'MX remote.test': ['10 mx.remote.test'], 'A mx.remote.test': ['127.0.0.1'] }),
    keys: () => Promise.resolve([]),
    hostname: 'box.test',
    outboundPort: port,
    allowPrivate: () => true,
    isOurAddress: () => false,
    clock,
    random: () => 0.5,
    log: quiet,
    meter: quiet,
  });
  return { clock, queue, ramp, [Symbol.asyncDispose]: () => relay.close() };
}

const THREE = ['a@remote.test', 'b@remote.test', 'c@remote.test'];

describe('the relay', () => {
  test('sends what the ramp allows, defers the rest with a sentence, and delivers all once', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port, 198);
    box.queue.add(THREE);
    const results = await box.queue.recorded(3);
    expect(results.map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered', 'deferred']);
    expect(results[2]?.text).toMatch(
      /^Sending ramp: remote\.test does not know this server yet and gets at most 200 recipients an hour now; the next are sent after \d\d:00 UTC$/,
    );
    expect(results[2]?.nextAt).toBeLessThanOrEqual(box.clock.now() + 2 * HOUR);
    expect(box.queue.bounces).toEqual([]);
    box.clock.advance(2 * HOUR);
    await box.queue.recorded(4);
    expect(server.mails.map(({ to }) => to)).toEqual([['a@remote.test', 'b@remote.test'], ['c@remote.test']]);
  });

  test('opens no connection for mail that waits anyway, and bounces none of it', async () => {
    let dialed = 0;
    const count: Script = { connect: () => void dialed++ };
    await using server = await scriptedServer(count);
    await using box = world(server.port, 200);
    box.queue.add(['a@remote.test']);
    await box.queue.recorded(1);
    box.queue.add(['b@remote.test'], { queuedAt: box.clock.now() - 9 * DAY, attempts: 50 });
    const results = await box.queue.recorded(2);
    expect(results.map(({ outcome }) => outcome)).toEqual(['deferred', 'deferred']);
    expect([dialed, server.mails.length]).toEqual([1, 0]);
  });

  test('hands what waits to the failover smarthost', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port, 200);
    box.queue.add(['a@remote.test'], { nextHop: { via: undefined, failover: 7 } });
    const [result] = await box.queue.recorded(1);
    expect(result).toMatchObject({ outcome: 'deferred', via: 7 });
  });

  test('stops for the rest of the hour at an objection', async () => {
    await using server = await scriptedServer({ rcpt: '421 4.7.28 Unusual rate of unsolicited mail from your IP' });
    await using box = world(server.port, 0);
    box.queue.add(['a@remote.test']);
    await box.queue.recorded(1);
    expect(box.ramp.peek('remote.test', box.clock.now())).toMatchObject({ count: 0, limit: 100 });
  });
});

describe('the stored ramp', () => {
  test('goes on after a restart, and is off where mail was sent before', async () => {
    await using made = await testStore();
    expect(await made.store.read(readRamp, undefined)).toEqual([]);
    const state = { ...newRamp('remote.test', made.clock.now), sent: 7 };
    await made.store.write(saveRamp, { states: [state] });
    await made.store.write(saveRamp, { states: [{ ...state, sent: 9 }] });
    const store = await made.reopen();
    expect(await store.read(readRamp, undefined)).toEqual([{ ...state, sent: 9 }]);
  });

  test('keeps the receivers that were used last when there are more than are read', async () => {
    await using made = await testStore();
    const { now } = made.clock;
    const old = { ...newRamp('old.test', now - HOUR), sent: 1 };
    const strangers = Array.from({ length: 10_000 }, (_, i) => ({ ...old, organization: `r${i}.test` }));
    await made.store.write(saveRamp, { states: strangers });
    await made.store.write(saveRamp, { states: [{ ...newRamp('warm.test', now), level: WARM_LEVEL }] });
    const stored = (await made.store.read(readRamp, undefined)) ?? [];
    expect([stored.length, stored.at(-1)]).toMatchObject([10_000, { organization: 'warm.test', level: WARM_LEVEL }]);
  });
});
