import { createSecureContext } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { OPERATOR } from '../../../mail/store/account/account.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { ChallengeAnswers } from '../../../src/acme/challenge-answers.ts';
import type { AcmeRequest, AcmeResponse } from '../../../src/acme/transport.ts';
import { renewNow } from '../../../src/certificates/commands.ts';
import { loadCertificates } from '../../../src/certificates/load.ts';
import { failingCertificateNotices } from '../../../src/certificates/notice-source.ts';
import { storedCertificates } from '../../../src/certificates/queries.ts';
import { CertificateRenewal } from '../../../src/certificates/renewal.ts';
import { certificateStates } from '../../../src/certificates/state.ts';
import { insertMember, insertPendingUser } from '../../../src/people/commands.ts';
import { testAuthority } from '../../support/authority.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';
import { proveOwner } from '../../support/people.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';

const HOST = 'mail.box.test';
const BASE = 'https://acme.test';
const DAY = 24 * 3_600_000;
const MINUTE = 60_000;
const root = await testAuthority();
/** Another authority of the same name. */
const impostor = await testAuthority();
const stop = new AbortController().signal;

const addOwner = command('test-add-owner', async (tx, email: string, stamp): Promise<void> => {
  const user = await insertPendingUser(tx, { email, key: email, displayName: null }, stamp);
  await insertMember(tx, { organization: OPERATOR, user, role: 'owner' }, stamp);
  await proveOwner.run(tx, email, stamp);
});

/** Makes the chain that the authority sends for a request. */
type Issue = (request: Uint8Array) => Promise<string>;

let box: TestWorld;
let issue: Issue;
let renewal: CertificateRenewal;
/** Times that the listeners took over new certificates. */
let changes = 0;

/** Signs for 90 days from now. */
const honest: Issue = async (request) => {
  const now = box.store.clock.now;
  const validity = { notBefore: new Date(now).toISOString(), notAfter: new Date(now + 90 * DAY).toISOString() };
  return `${await root.certify(request, [HOST], validity)}\n${root.pem}`;
};

/** An authority that follows RFC 8555 but for the certificate that it sends. */
function authority(): (request: AcmeRequest) => Promise<AcmeResponse> {
  let requested: Uint8Array = new Uint8Array();
  const order = { finalize: `${BASE}/finalize`, authorizations: [`${BASE}/authz`] };
  const answers: Record<string, object> = {
    '/dir': { newNonce: `${BASE}/nonce`, newAccount: `${BASE}/account`, newOrder: `${BASE}/order` },
    '/nonce': {},
    '/account': { status: 'valid' },
    '/order': { status: 'pending', ...order },
    '/authz': { status: 'valid', identifier: { type: 'dns', value: HOST } },
    '/finalize': { status: 'processing' },
    '/order/1': { status: 'valid', certificate: `${BASE}/cert` },
  };
  return async ({ url, body }) => {
    const { pathname } = new URL(url);
    const headers = { 'replay-nonce': 'n1', location: `${url}/1` };
    if (pathname === '/finalize') requested = requestIn(body ?? '');
    if (pathname !== '/cert') return { status: 200, headers, body: JSON.stringify(answers[pathname]) };
    const type = { 'content-type': 'application/pem-certificate-chain' };
    return { status: 200, headers: { ...headers, ...type }, body: await issue(requested) };
  };
}

/** Certificate request in a signed request. RFC 8555 7.4. */
function requestIn(body: string): Uint8Array {
  const { payload } = JSON.parse(body) as { payload: string };
  const { csr } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { csr: string };
  return new Uint8Array(Buffer.from(csr, 'base64url'));
}

beforeEach(async () => {
  box = await testWorld({}, [addOwner]);
  [issue, changes] = [honest, 0];
  const { world } = box;
  await world.store.write(addOwner, 'ann@far.example');
  renewal = new CertificateRenewal({
    ...world,
    log: quiet,
    resolver: fakeResolver({}),
    transport: authority(),
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
    changed: () => Promise.resolve(void (changes += 1)),
    sleep: () => Promise.resolve(),
    random: () => 0,
  });
  await renewal.run(stop);
  expect(await states()).toMatchObject([{ name: HOST, status: 'valid', failures: 0 }]);
});
afterEach(() => box[Symbol.asyncDispose]());

const context = () => ({ ...box.world, settings: { hostname: HOST } });
const states = async () => (await certificateStates(context())).certificates;
const chain = async () => (await box.world.store.read(storedCertificates, undefined))[0]?.chain;

/** Letters that are due to the owners, decoded. */
async function letters(): Promise<string[]> {
  const source = failingCertificateNotices(context());
  const all: string[] = [];
  for await (const due of source.due())
    for (const { data } of (await source.compose(due))?.notices ?? []) all.push(Buffer.from(data ?? []).toString());
  return all.map((one) => one.replaceAll('=\r\n', '').replaceAll('\r\n ', ' '));
}

/** Orders again twice, so late that a failure is reported. */
async function renewTwice(): Promise<void> {
  box.store.clock.now += 66 * DAY;
  await renewal.run(stop);
  box.store.clock.now += 6 * MINUTE;
  await renewal.run(stop);
}

const of = (names: string[], validity?: { notBefore: string; notAfter: string }): Issue => {
  return async (request) => `${await root.certify(request, names, validity)}\n${root.pem}`;
};
const followedBy = (more: string): Issue => {
  return async (request) => `${await root.certify(request, [HOST])}\n${more}`;
};
const GARBAGE = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';

test.each<[string, Issue, RegExp]>([
  ['for another name', of(['bank.example']), /^it sent a certificate without mail\.box\.test$/],
  ['for another key', async () => (await root.issue([HOST])).cert, /^it sent a certificate for another key$/],
  [
    'that has expired',
    of([HOST], { notBefore: '2025-01-01', notAfter: '2025-12-31' }),
    /^it sent a certificate that expired at Dec 31 .*: check the clock of this machine$/,
  ],
  [
    'of the future',
    of([HOST], { notBefore: '2027-01-01', notAfter: '2027-06-01' }),
    /^it sent a certificate that is valid only from Jan +1 .*: check the clock of this machine$/,
  ],
  ['with garbage in the place of its issuer', followedBy(GARBAGE), /^it sent a damaged certificate$/],
  [
    'with the issuer of another authority',
    followedBy(impostor.pem),
    /^it sent a chain of other certificates, none of which issued ours$/,
  ],
  ['that is only its own', () => Promise.resolve(root.pem), /^it sent a certificate for another key$/],
  ['that is cut', async (request) => (await root.certify(request, [HOST])).slice(0, -200), /^it sent no usable chain$/],
  [
    'eleven times',
    async (request) => `${await root.certify(request, [HOST])}\n`.repeat(11),
    /^it sent no usable chain$/,
  ],
])('a certificate %s is refused: the old one stays in use, status and letter say why', async (_, lie, why) => {
  const before = await chain();
  issue = lie;
  await renewTwice();
  expect(await chain()).toBe(before);
  expect(changes, 'the listeners keep theirs').toBe(1);
  expect(await states()).toMatchObject([
    { status: 'renewal_failing', failures: 2, error: expect.stringMatching(why) as string, names: [HOST] },
  ]);
  const [letter, ...more] = await letters();
  expect(more).toEqual([]);
  expect(letter).toContain(`The certificate for ${HOST} expires on 2026-04-01 and is not renewed`);
  const [said] = (await states()).map(({ error }) => error ?? '');
  expect(letter).toContain(said);
  // The stored chain can be served after a restart.
  const [served] = await loadCertificates(box.world, HOST);
  for (const pair of served?.pairs ?? []) expect(() => createSecureContext(pair)).not.toThrow();
  expect(served?.pairs[0]?.cert).toBe(before);

  issue = honest;
  box.store.clock.now += DAY;
  await renewal.run(stop);
  expect(await states()).toMatchObject([{ status: 'valid', failures: 0, error: null }]);
  expect(changes).toBe(2);
});

test('a leaf alone, and issuers in another order, are accepted', async () => {
  const sent: Issue[] = [(request) => root.certify(request, [HOST]), followedBy(`${impostor.pem}\n${root.pem}`)];
  for (const [at, one] of sent.entries()) {
    issue = one;
    box.store.clock.now += 66 * DAY;
    // The certificate of the test authority ends in 2050.
    await box.world.store.write(renewNow, { name: HOST });
    await renewal.run(stop);
    expect(await states()).toMatchObject([{ status: 'valid', failures: 0 }]);
    expect(changes).toBe(at + 2);
  }
});
