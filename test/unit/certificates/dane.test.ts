import { expect, test } from 'vitest';
import type { Lookup, SecureResolver } from '../../../mail/dns/lookup.ts';
import { SecretBox } from '../../../mail/store/blob/secrets.ts';
import { daneState, tlsaToPublish } from '../../../src/certificates/dane.ts';
import { storeCertificate } from '../../../src/certificates/commands.ts';
import { ensureNextKey } from '../../../src/certificates/sealed-keys.ts';
import { storeParts } from '../../../src/start/store-parts.ts';
import { testStore } from '../../support/store.ts';

const HOST = 'mail.box.test';
const secure = (a: Lookup<string>): SecureResolver =>
  ({ a: () => Promise.resolve(a), tlsa: () => Promise.resolve({ kind: 'none', nx: true, secure: true }) }) as never;
const SIGNED = secure({ kind: 'found', secure: true, records: ['192.0.2.1'] });
const UNSIGNED = secure({ kind: 'found', secure: false, records: ['192.0.2.1'] });
const SILENT = secure({ kind: 'trouble', why: 'timeout' });

test('the records of the used and the next key are published where the zone is signed and a certificate is in use', async () => {
  await using box = await testStore(storeParts());
  const { store } = box;
  const context = { store, secrets: new SecretBox(Buffer.alloc(32, 7)) };
  const settings = { hostname: HOST, tls: undefined };
  const none = { kind: 'records', values: [] };
  const [first] = await ensureNextKey(context, HOST, 'ecdsa');
  const spki = first?.spki ?? expect.fail();
  expect(await tlsaToPublish({ store, secure: SIGNED, settings }), 'no certificate yet').toEqual(none);
  const dates = { notBefore: 0, notAfter: 9, renewAt: 5, windowAt: 1 };
  await store.write(storeCertificate, { name: HOST, algorithm: 'ecdsa', names: [HOST], chain: '', spki, ...dates });
  const keys = await ensureNextKey(context, HOST, 'ecdsa');
  const values = keys.map((key) => `3 1 1 ${key.spki}`);
  const found = await tlsaToPublish({ store, secure: SIGNED, settings });
  expect(found).toEqual({ kind: 'records', values: expect.arrayContaining(values) as string[] });
  expect(values).toHaveLength(2);
  expect(await tlsaToPublish({ store, secure: UNSIGNED, settings })).toEqual(none);
  expect(await tlsaToPublish({ store, secure: SILENT, settings })).toEqual({ kind: 'unknown' });
  expect(await tlsaToPublish({ store, secure: undefined, settings })).toEqual({ kind: 'unknown' });
  const own = { hostname: HOST, tls: { certFile: 'a', keyFile: 'b' } };
  expect(await tlsaToPublish({ store, secure: SIGNED, settings: own }), 'files of the operator').toEqual(none);
});

test.each([
  ['no trusted resolver', undefined, 'untrusted'],
  ['a resolver that does not answer', SILENT, 'trouble'],
  ['a zone that is not signed', UNSIGNED, 'unsigned'],
  ['a signed zone', SIGNED, 'signed'],
])('DANE with %s', async (_, resolver, kind) => {
  expect((await daneState(resolver, HOST)).kind).toBe(kind);
});
