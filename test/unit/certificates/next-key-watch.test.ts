import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Lookup, TlsaRecord } from '../../../mail/dns/lookup.ts';
import { SecretBox } from '../../../mail/store/blob/secrets.ts';
import { keyForRenewal } from '../../../src/certificates/key-choice.ts';
import { NextKeyWatch } from '../../../src/certificates/next-key-watch.ts';
import { ensureNextKey, openTlsKeys } from '../../../src/certificates/sealed-keys.ts';
import { storeCertificate } from '../../../src/certificates/commands.ts';
import { storeParts } from '../../../src/start/store-parts.ts';
import { testStore, type TestStore } from '../../support/store.ts';

const HOST = 'mail.box.test';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const secrets = new SecretBox(Buffer.alloc(32, 7));

let box: TestStore;
let watch: NextKeyWatch;
let lookups = 0;
/** TLSA records in the DNS, by the hash of their key. */
let published: string[] = [];
let ttl = 60;
let failing = false;

const tlsa = (): Promise<Lookup<TlsaRecord>> => {
  lookups += 1;
  if (failing) return Promise.resolve({ kind: 'trouble', why: 'timeout' });
  const records = published.map((hex) => ({
    usage: 3,
    selector: 1,
    matchingType: 1,
    data: Buffer.from(hex, 'hex'),
    ttl,
  }));
  return Promise.resolve(records.length > 0 ? { kind: 'found', records } : { kind: 'none', nx: false });
};
const watching = (): NextKeyWatch =>
  new NextKeyWatch({ store: box.store, clock: () => box.clock.now, hostname: HOST, tlsa });
const keys = () => openTlsKeys({ store: box.store, secrets }, HOST, 'ecdsa');
const spkiOf = async (state: string): Promise<string> =>
  (await keys()).find((key) => key.state === state)?.spki ?? expect.fail(`no key is ${state}`);

/** State of the key that a renewal would use now. */
async function chosen(): Promise<string | undefined> {
  const found = await watch.lookNow();
  return keyForRenewal(await keys(), found, box.clock.now)?.state;
}

/** A look of the job after so much time. */
async function after(ms: number): Promise<void> {
  box.clock.now += ms;
  await watch.look();
}

beforeEach(async () => {
  box = await testStore(storeParts());
  [published, ttl, failing, lookups] = [[], 60, false, 0];
  await ensureNextKey({ store: box.store, secrets }, HOST, 'ecdsa');
  const spki = await spkiOf('next');
  const dates = { notBefore: 0, notAfter: 9, renewAt: 5, windowAt: 1 };
  await box.store.write(storeCertificate, {
    name: HOST,
    algorithm: 'ecdsa',
    names: [HOST],
    chain: '',
    spki,
    ...dates,
  });
  await ensureNextKey({ store: box.store, secrets }, HOST, 'ecdsa');
  watch = watching();
  published = [spki];
});
afterEach(() => box[Symbol.asyncDispose]());

test('a key that waited for days before its record was published still waits for an hour from then', async () => {
  for (let day = 0; day < 3; day += 1) await after(24 * HOUR);
  expect(await chosen()).toBe('used');
  published.push(await spkiOf('next'));
  await after(10 * MINUTE);
  expect(await chosen()).toBe('used');
  box.clock.now += HOUR - 1;
  expect(await chosen()).toBe('used');
  box.clock.now += 1;
  expect(await chosen()).toBe('next');
});

test('two TTLs are waited for, the largest that was seen, also over a restart', async () => {
  ttl = 3 * 3600;
  published.push(await spkiOf('next'));
  await after(HOUR);
  // The rest of it in a cache.
  ttl = 30;
  await after(HOUR);
  await box.reopen();
  watch = watching();
  box.clock.now += 5 * HOUR - 1;
  expect(await chosen()).toBe('used');
  box.clock.now += 1;
  expect(await chosen()).toBe('next');
});

test('a record that disappears counts anew, a lookup that fails does not', async () => {
  const next = await spkiOf('next');
  published.push(next);
  await after(HOUR);
  failing = true;
  await after(2 * HOUR);
  expect(await chosen()).toBe('used');
  failing = false;
  expect(await chosen()).toBe('next');
  published.pop();
  await after(10 * MINUTE);
  published.push(next);
  await after(10 * MINUTE);
  expect(await chosen()).toBe('used');
  await after(HOUR);
  expect(await chosen()).toBe('next');
});

test('the DNS is asked every ten minutes at most, and not at all without a next key', async () => {
  for (let minute = 0; minute < 60; minute += 1) await after(MINUTE);
  expect(lookups).toBe(6);
  const name = 'other.box.test';
  const other = new NextKeyWatch({ store: box.store, clock: () => box.clock.now, hostname: name, tlsa });
  await other.look();
  expect(lookups).toBe(6);
});
