import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { SecretBox } from '../../../mail/store/blob/secrets.ts';
import { ChallengeAnswers } from '../../../src/acme/challenge-answers.ts';
import { AuthorityUnavailable } from '../../../src/acme/acme-error.ts';
import type { AcmeRequest, AcmeResponse } from '../../../src/acme/transport.ts';
import { renewNow, setRenewalTime, storeCertificate } from '../../../src/certificates/commands.ts';
import { failedOrders, storedCertificates } from '../../../src/certificates/queries.ts';
import { CertificateRenewal } from '../../../src/certificates/renewal.ts';
import { storeParts } from '../../../src/start/store-parts.ts';
import { testAuthority } from '../../support/authority.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';
import { testStore, type TestStore } from '../../support/store.ts';

const HOST = 'mail.box.test';
const BASE = 'https://acme.test';
const MINUTE = 60_000;

let box: TestStore;
beforeEach(async () => {
  box = await testStore(storeParts());
});
afterEach(() => box[Symbol.asyncDispose]());

type Reply = Partial<AcmeResponse> | 'down';

/** An authority that answers as RFC 8555 says, but for what `over` has for a path. */
function authority(over: Record<string, (request: AcmeRequest) => Reply | undefined> = {}) {
  const requests: string[] = [];
  const json = (body: object, headers = {}): Partial<AcmeResponse> => ({ body: JSON.stringify(body), headers });
  const honest: Record<string, () => Reply> = {
    '/dir': () => json({ newNonce: `${BASE}/nonce`, newAccount: `${BASE}/account`, newOrder: `${BASE}/order` }),
    '/nonce': () => ({}),
    '/account': () => json({ status: 'valid' }, { location: `${BASE}/account/1` }),
    '/order': () =>
      json(
        { status: 'pending', finalize: `${BASE}/finalize`, authorizations: [`${BASE}/authz`] },
        { location: `${BASE}/order/1` },
      ),
    '/authz': () => json({ status: 'valid', identifier: { type: 'dns', value: HOST } }),
    '/order/1': () => json({ status: 'valid', certificate: `${BASE}/cert` }),
    '/finalize': () => json({ status: 'processing' }),
  };
  const transport = async (request: AcmeRequest): Promise<AcmeResponse> => {
    const { pathname } = new URL(request.url);
    requests.push(pathname);
    const reply = over[pathname]?.(request) ?? honest[pathname]?.() ?? { status: 404, body: '{}' };
    if (reply === 'down') throw new AuthorityUnavailable('it is down');
    return { status: 200, body: '', ...reply, headers: { 'replay-nonce': `n${requests.length}`, ...reply.headers } };
  };
  return { requests, transport };
}

function renewalBy(transport: (request: AcmeRequest) => Promise<AcmeResponse>): CertificateRenewal {
  return new CertificateRenewal({
    store: box.store,
    secrets: new SecretBox(randomBytes(32)),
    resolver: fakeResolver({}),
    log: quiet,
    metrics: quiet,
    clock: () => box.clock.now,
    transport,
    answers: new ChallengeAnswers(),
    publishers: [],
    settings: {
      hostname: HOST,
      baseUrl: undefined,
      acme: { email: 'owner@box.test', directory: `${BASE}/dir`, challenge: 'auto', rsa: false },
    },
    http: true,
    https: true,
    covered: () => false,
    tlsa: () => Promise.resolve({ kind: 'none', nx: true }),
    changed: () => Promise.resolve(),
    sleep: () => Promise.resolve(),
    random: () => 0,
  });
}

const stop = new AbortController().signal;
const problem = (type: string, status: number, headers = {}): Reply => ({
  status,
  headers,
  body: JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail: 'why' }),
});
const { cert: foreign } = await (await testAuthority()).issue([HOST]);
const chain = (body: string): Reply => ({ body, headers: { 'content-type': 'application/pem-certificate-chain' } });

test.each<[string, Parameters<typeof authority>[0], RegExp, number]>([
  ['is down', { '/dir': () => 'down' }, /^it is down$/, 3],
  ['is no ACME server', { '/dir': () => ({ body: '<html>' }) }, /no JSON object/, 3],
  ['has a directory without URLs', { '/dir': () => ({ body: '{}' }) }, /MAILSTEAD_ACME_DIRECTORY/, 9],
  ['refuses every nonce', { '/account': () => problem('badNonce', 400) }, /badNonce/, 80],
  ['fails inside', { '/order': () => problem('serverInternal', 500) }, /serverInternal/, 80],
  [
    'wants another name proved',
    { '/authz': () => ({ body: JSON.stringify({ status: 'pending', identifier: { value: 'bank.example' } }) }) },
    /not ordered/,
    20,
  ],
  [
    'wants more names proved than ordered',
    {
      '/order': () => ({
        body: JSON.stringify({ finalize: `${BASE}/f`, authorizations: Array<string>(9).fill(`${BASE}/authz`) }),
        headers: { location: `${BASE}/order/1` },
      }),
    },
    /more names/,
    20,
  ],
  [
    'never decides',
    { '/order/1': () => ({ body: JSON.stringify({ status: 'processing' }) }) },
    /did not decide in time/,
    60,
  ],
  [
    'calls the order invalid',
    { '/order/1': () => ({ body: JSON.stringify({ status: 'invalid', error: { detail: 'CAA' } }) }) },
    /did not issue.*CAA/,
    20,
  ],
  ['sends a page for a certificate', { '/cert': () => ({ body: '<html>' }) }, /something else/, 30],
  ['sends an empty chain', { '/cert': () => chain('') }, /no usable chain/, 20],
  [
    'sends damaged certificates',
    { '/cert': () => chain('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----') },
    /damaged/,
    20,
  ],
  ['sends a certificate for another key', { '/cert': () => chain(foreign) }, /another key/, 20],
])('an authority that %s: a reason, a later attempt, few requests', async (_, over, why, most) => {
  const { requests, transport } = authority(over);
  const renewal = renewalBy(transport);
  await renewal.run(stop);
  const [failed] = await box.store.read(failedOrders, undefined);
  expect(failed?.error).toMatch(why);
  expect(failed?.error).not.toMatch(/[\r\n]/);
  expect(failed).toMatchObject({ name: HOST, failures: 1, retryAt: box.clock.now + 5 * MINUTE });
  expect(requests.length).toBeLessThanOrEqual(most);
  expect(await box.store.read(storedCertificates, undefined)).toEqual([]);
  // Not before its time.
  const before = requests.length;
  box.clock.now += 4 * MINUTE;
  await renewal.run(stop);
  expect(requests.length).toBe(before);
  box.clock.now += 2 * MINUTE;
  await renewal.run(stop);
  expect((await box.store.read(failedOrders, undefined))[0]).toMatchObject({ failures: 2 });
});

test('the pause that an authority demands is kept, for all orders', async () => {
  const hour = { 'retry-after': '7200' };
  const { requests, transport } = authority({ '/order': () => problem('rateLimited', 429, hour) });
  const renewal = renewalBy(transport);
  await renewal.run(stop);
  const before = requests.length;
  expect((await box.store.read(failedOrders, undefined))[0]?.retryAt).toBe(box.clock.now + 120 * MINUTE);
  box.clock.now += 119 * MINUTE;
  await renewal.run(stop);
  expect(requests.length).toBe(before);
});

test('a week of failures makes fewer than 25 orders', async () => {
  const { requests, transport } = authority({ '/order': () => problem('rejectedIdentifier', 400) });
  const renewal = renewalBy(transport);
  for (let minute = 0; minute < 7 * 24 * 60; minute += 5) {
    box.clock.now += 5 * MINUTE;
    await renewal.run(stop);
  }
  const orders = requests.filter((path) => path === '/order').length;
  expect(orders).toBeGreaterThan(10);
  expect(orders).toBeLessThan(25);
});

test('a stop in the middle of an order counts as no failure', async () => {
  const stopping = new AbortController();
  const { transport } = authority({
    '/order': () => {
      stopping.abort();
      return 'down';
    },
  });
  await renewalBy(transport).run(stopping.signal);
  expect(await box.store.read(failedOrders, undefined)).toEqual([]);
});

test('a renewal that a person demands while the window is queried is not forgotten', async () => {
  const key = { name: HOST, algorithm: 'ecdsa' };
  const dates = { notBefore: 0, notAfter: 9, renewAt: 5, windowAt: 1 };
  await box.store.write(storeCertificate, { ...key, ...dates, names: [HOST], chain: '', spki: 'aa' });
  await box.store.write(renewNow, { name: HOST });
  await box.store.write(setRenewalTime, { ...key, before: 5, renewAt: 7, windowAt: 8 });
  expect((await box.store.read(storedCertificates, undefined))[0]).toMatchObject({ renewAt: 0, windowAt: 1 });
  await box.store.write(setRenewalTime, { ...key, before: 0, renewAt: 7, windowAt: 8 });
  expect((await box.store.read(storedCertificates, undefined))[0]).toMatchObject({ renewAt: 7, windowAt: 8 });
});
