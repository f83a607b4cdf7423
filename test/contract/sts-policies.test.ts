import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { quiet } from '../../mail/log.ts';
import { StsPolicies } from '../../mail/relay/tls-policy/sts-policies.ts';
import type { FetchStsPolicy } from '../../mail/relay/tls-policy/sts-fetch.ts';
import {
  purgeStsPolicies,
  storeStsPolicy,
  deferStsPolicy,
  staleStsPolicies,
} from '../../mail/store/queue/sts-policy.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { fakeResolver, type FakeZone } from '../support/fake-resolver.ts';
import { type TestStore, testStore } from '../support/store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const ANNOUNCED: FakeZone = { 'TXT _mta-sts.remote.test': ['v=STSv1; id=one'] };

interface World extends AsyncDisposable {
  test: TestStore;
  clock: FakeClock;
  zone: FakeZone;
  fetched: string[];
  /** Result of the next fetches. */
  serve: FetchStsPolicy;
  /** Waited for before anything is written. */
  beforeWrite: () => Promise<void>;
  policies: StsPolicies;
  /** Resolves when so many policies were written down. */
  kept(count: number): Promise<void>;
  /** A new process on the same store. */
  restart(): Promise<void>;
}

const enforce: FetchStsPolicy = () =>
  Promise.resolve({
    policy: { mode: 'enforce', mx: ['mx.remote.test'], maxAge: WEEK / 1000 },
    strings: ['mode: enforce'],
  });
const broken: FetchStsPolicy = () => Promise.resolve({ failure: 'sts-policy-fetch-error', why: 'it is down' });

async function world(): Promise<World> {
  const stored = await testStore();
  const clock = new FakeClock(stored.clock.now);
  const zone = { ...ANNOUNCED };
  const resolver = fakeResolver(zone);
  let writes = 0;
  let wake: () => void = () => undefined;
  const made: World = {
    test: stored,
    clock,
    zone,
    fetched: [],
    serve: enforce,
    beforeWrite: () => Promise.resolve(),
    policies: open(stored.store),
    async kept(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = () => writes >= count && resolve();
      wake();
      await promise;
    },
    async restart() {
      await made.policies.close();
      made.policies = open(await stored.reopen());
    },
    async [Symbol.asyncDispose]() {
      await made.policies.close();
      await stored[Symbol.asyncDispose]();
    },
  };
  function open(store: MailStore): StsPolicies {
    const fetch: FetchStsPolicy = (domain) => (made.fetched.push(domain), made.serve(domain));
    const counting = Object.assign(Object.create(store) as MailStore, {
      read: store.read.bind(store),
      async write(...args: Parameters<MailStore['write']>) {
        await made.beforeWrite();
        const done = await store.write(...args);
        writes += 1;
        wake();
        return done;
      },
    });
    return new StsPolicies({ store: counting, resolver, fetch, clock, log: quiet, meter: quiet });
  }
  return made;
}

/** Both clocks go on. */
function later({ clock, test: stored }: World, ms: number): void {
  stored.clock.now += ms;
  clock.advance(ms);
}

const enforced = { kind: 'policy', policy: { id: 'one', mode: 'enforce', mx: ['mx.remote.test'] } };

describe('a policy', () => {
  test('is fetched once for all who ask, and outlives the process', async () => {
    await using box = await world();
    const all = await Promise.all([box.policies.find('remote.test'), box.policies.find('remote.test')]);
    expect(all).toMatchObject([enforced, enforced]);
    expect(box.fetched).toEqual(['remote.test']);
    await box.restart();
    box.serve = broken;
    expect(await box.policies.find('remote.test')).toMatchObject(enforced);
    expect(box.fetched).toHaveLength(1);
  });

  test('is not looked for where none is announced', async () => {
    await using box = await world();
    expect(await box.policies.find('other.test')).toEqual({ kind: 'none' });
    expect(box.fetched).toEqual([]);
  });

  test.each(['gone', 'trouble', 'two'] as const)('counts on while its record is %s', async (how) => {
    await using box = await world();
    await box.policies.find('remote.test');
    if (how === 'gone') delete box.zone['TXT _mta-sts.remote.test'];
    if (how === 'trouble') box.zone['TXT _mta-sts.remote.test'] = 'trouble';
    if (how === 'two') box.zone['TXT _mta-sts.remote.test'] = ['v=STSv1; id=one', 'v=STSv1; id=two'];
    expect(await box.policies.find('remote.test')).toMatchObject(enforced);
    later(box, WEEK + 1);
    expect(await box.policies.find('remote.test')).toEqual({ kind: 'none' });
  });

  test('is fetched anew for a new id, and the old one counts when that fails', async () => {
    await using box = await world();
    await box.policies.find('remote.test');
    box.zone['TXT _mta-sts.remote.test'] = ['v=STSv1; id=two'];
    box.serve = broken;
    expect(await box.policies.find('remote.test')).toMatchObject(enforced);
    expect(await box.policies.find('remote.test')).toMatchObject(enforced);
    expect(box.fetched).toHaveLength(2);
    later(box, 5 * 60_000 + 1);
    box.serve = () => Promise.resolve({ policy: { mode: 'none', mx: [], maxAge: 86_400 }, strings: ['mode: none'] });
    expect(await box.policies.find('remote.test')).toMatchObject({ policy: { id: 'two', mode: 'none' } });
  });

  test('that cannot be had at first is none, and is asked for again after five minutes', async () => {
    await using box = await world();
    box.serve = broken;
    const none = { kind: 'none', problem: { failure: 'sts-policy-fetch-error' } };
    expect(await box.policies.find('remote.test')).toMatchObject(none);
    expect(await box.policies.find('remote.test')).toMatchObject(none);
    expect(box.fetched).toHaveLength(1);
    later(box, 5 * 60_000 + 1);
    box.serve = enforce;
    expect(await box.policies.find('remote.test')).toMatchObject(enforced);
  });

  test('in use is fetched again after a day, while the old one counts', async () => {
    await using box = await world();
    await box.policies.find('remote.test');
    later(box, DAY + 1);
    box.serve = () => new Promise(() => undefined);
    expect(await box.policies.find('remote.test')).toMatchObject(enforced);
    expect(box.fetched).toHaveLength(2);
  });

  test('that nobody writes to for a while is kept fresh, and after a month let go', async () => {
    await using box = await world();
    await box.policies.find('remote.test');
    for (let day = 1; day <= 8; day += 1) {
      const { promise, resolve } = Promise.withResolvers<void>();
      box.serve = (domain) => (resolve(), enforce(domain));
      later(box, DAY + HOUR);
      await promise;
      await box.kept(day + 1);
      await box.restart();
    }
    delete box.zone['TXT _mta-sts.remote.test'];
    expect(await box.policies.find('remote.test')).toMatchObject(enforced);
    const { store, clock } = box.test;
    const stale = (now: number) => store.read(staleStsPolicies, { now, limit: 10 });
    expect(await stale(clock.now + DAY + 1000)).toEqual(['remote.test']);
    later(box, 31 * DAY);
    expect(await stale(clock.now)).toEqual([]);
    expect(await store.write(purgeStsPolicies, undefined)).toBe(false);
    expect(await box.policies.find('remote.test')).toEqual({ kind: 'none' });
  });

  test('of one domain that hangs holds up no other', async () => {
    await using box = await world();
    box.zone['TXT _mta-sts.slow.test'] = ['v=STSv1; id=x'];
    box.serve = (domain) => (domain === 'slow.test' ? new Promise(() => undefined) : enforce(domain));
    void box.policies.find('slow.test');
    expect(await box.policies.find('remote.test')).toMatchObject(enforced);
  });

  test('that comes during a stop counts for who asked', async () => {
    await using box = await world();
    const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<FetchStsPolicy>>>();
    const queried = Promise.withResolvers<undefined>();
    box.serve = () => (queried.resolve(undefined), promise);
    const waits = box.policies.find('remote.test');
    await queried.promise;
    await box.policies.close();
    resolve(await enforce('remote.test'));
    expect(await waits).toMatchObject(enforced);
  });

  test('that is being written down is waited for by a stop', async () => {
    await using box = await world();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const writing = Promise.withResolvers<undefined>();
    box.beforeWrite = () => (writing.resolve(undefined), promise);
    void box.policies.find('remote.test');
    await writing.promise;
    let closed = false;
    const closing = box.policies.close().then(() => (closed = true));
    await setImmediate();
    expect(closed).toBe(false);
    resolve(undefined);
    await closing;
    await box.restart();
    box.serve = broken;
    expect(await box.policies.find('remote.test')).toMatchObject(enforced);
  });
});

describe('the round that keeps policies fresh', () => {
  const keep = (box: World, domain: string) =>
    box.test.store.write(storeStsPolicy, {
      domain,
      policy: {
        id: 'one',
        mode: 'enforce',
        mx: [`mx.${domain}`],
        strings: [],
        fetchedAt: box.test.clock.now,
        expiresAt: box.test.clock.now + 4 * WEEK,
      },
    });
  const stale = (box: World, limit: number) =>
    box.test.store.read(staleStsPolicies, { now: box.test.clock.now, limit });

  test('comes to those that can be had first, however many cannot', async () => {
    await using box = await world();
    for (let n = 0; n < 30; n++) {
      await keep(box, `dead${n}.test`);
      await box.test.store.write(deferStsPolicy, { domain: `dead${n}.test` });
    }
    box.test.clock.now += 1000;
    await keep(box, 'remote.test');
    box.test.clock.now += DAY + 1;
    const found = await stale(box, 20);
    expect([found.length, found[0]]).toEqual([20, 'remote.test']);
  });

  test('asks for one that cannot be had after 1, 2, 4 ... hours, and then every day', async () => {
    await using box = await world();
    await keep(box, 'dead.test');
    // The store's clock only: no round runs beside this.
    box.test.clock.now += DAY + 1;
    const hours: number[] = [];
    for (let time = 0; time < 7; time++) {
      await box.test.store.write(deferStsPolicy, { domain: 'dead.test' });
      let hour = 0;
      while ((await stale(box, 1)).length === 0) {
        box.test.clock.now += HOUR + (hour === 0 ? 1 : 0);
        hour += 1;
      }
      hours.push(hour);
    }
    expect(hours).toEqual([1, 2, 4, 8, 16, 24, 24]);
    await keep(box, 'dead.test');
    expect(await stale(box, 1)).toEqual([]);
  });

  test('writes down what it came to', async () => {
    await using box = await world();
    // One whose server is down, one whose record is gone, and one that is as it was.
    box.zone['TXT _mta-sts.down.test'] = ['v=STSv1; id=one'];
    for (const domain of ['down.test', 'gone.test', 'remote.test']) await keep(box, domain);
    box.serve = (domain) => (domain === 'down.test' ? broken(domain) : enforce(domain));
    later(box, DAY + HOUR);
    await box.kept(3);
    expect(box.fetched).toEqual(['down.test', 'remote.test']);
    expect(await stale(box, 9)).toEqual([]);
    box.test.clock.now += HOUR + 1;
    expect(await stale(box, 9)).toEqual(['down.test', 'gone.test']);
  });
});
