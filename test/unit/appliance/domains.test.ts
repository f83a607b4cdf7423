import { randomBytes, sign, verify } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { dkimKeys } from '../../../mail/store/address/domain.ts';
import { SecretBox, SecretUnreadable } from '../../../mail/store/blob/secrets.ts';
import { onboardDomain, SigningKeys } from '../../../src/domains/domains.ts';
import { storeParts } from '../../../src/start/store-parts.ts';
import { testStore, type TestStore } from '../../support/store.ts';

let world: TestStore;
const secrets = new SecretBox(randomBytes(32));
const context = () => ({ store: world.store, secrets, log: quiet });
const onboard = (name: string, tenant = 1, verified = true) => onboardDomain(context(), { tenant, name, verified });
const keysOf = (box = secrets) => new SigningKeys({ store: world.store, secrets: box }, () => world.clock.now);

beforeEach(async () => {
  world = await testStore(storeParts());
});
afterEach(() => world[Symbol.asyncDispose]());

test('a domain gets a key for each algorithm, and what is published fits what signs', async () => {
  await onboard('Box.Test');
  const keys = await keysOf().of('box.test');
  expect(keys.map(({ selector, algorithm }) => [selector, algorithm])).toEqual([
    ['ms1', 'rsa-sha256'],
    ['ms2', 'ed25519-sha256'],
  ]);
  const [rsa] = keys;
  const [row] = await world.store.read(dkimKeys, { name: 'box.test' });
  if (rsa === undefined || row === undefined) return expect.fail('no RSA key');
  const published = Buffer.from(row.public.split('p=')[1] ?? '', 'base64');
  const text = Buffer.from('signed');
  const key = { key: published, format: 'der', type: 'spki' } as const;
  expect(verify('sha256', text, key, sign('sha256', text, rsa.key))).toBe(true);
  expect(rsa.key.asymmetricKeyDetails?.modulusLength).toBe(2048);
});

test('the keys of a domain sign nothing of a tenant whose it is not', async () => {
  await onboard('box.test', 2);
  const keys = keysOf();
  expect(await keys.of('box.test', 2)).toHaveLength(2);
  await expect(keys.of('box.test', 1)).rejects.toThrow('belong to another tenant');
  expect(await keys.of('nobody.test', 1)).toEqual([]);
});

test('onboarding again changes nothing', async () => {
  const first = await onboard('box.test');
  const before = await world.store.read(dkimKeys, { name: 'box.test' });
  expect(await onboard('box.test')).toEqual({ ...first, kind: 'exists' });
  expect(await world.store.read(dkimKeys, { name: 'box.test' })).toEqual(before);
});

test.each([
  ['', 'bad-name'],
  ['localhost', 'bad-name'],
  ['[192.0.2.1]', 'bad-name'],
  ['a b.test', 'bad-name'],
  ['-x.test', 'bad-name'],
  ['bücher.example', 'added'],
])('the name %j: %s', async (name, kind) => {
  expect((await onboard(name)).kind).toBe(kind);
});

test('a domain that another tenant proved is not proved twice', async () => {
  await onboard('box.test', 1);
  expect(await onboard('box.test', 2)).toEqual({ kind: 'taken' });
});

test('an unproved domain signs nothing', async () => {
  await onboard('claimed.test', 1, false);
  expect(await keysOf().of('claimed.test')).toEqual([]);
});

test('keys are read once a minute', async () => {
  const keys = keysOf();
  expect(await keys.of('box.test')).toEqual([]);
  await onboard('box.test');
  expect(await keys.of('box.test')).toEqual([]);
  world.clock.now += 60_000;
  expect(await keys.of('box.test')).toHaveLength(2);
});

test('a key sealed under another key file is an error, and not remembered', async () => {
  await onboard('box.test');
  const keys = keysOf(new SecretBox(randomBytes(32)));
  await expect(keys.of('box.test')).rejects.toThrow(SecretUnreadable);
  await expect(keys.of('box.test')).rejects.toThrow(SecretUnreadable);
});
