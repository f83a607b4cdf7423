import { createHash, type X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TlsaRecord } from '../../../../mail/dns/lookup.ts';
import {
  certificateChain,
  verifyByAuthorities,
  verifyByTlsa,
  usableRecords,
} from '../../../../mail/relay/tls-policy/certificate.ts';
import { type Authority, type Issued, testAuthority } from '../../../support/authority.ts';

const NAME = 'mx.remote.test';
const KNOWN = getCACertificates();
const NOW = Date.UTC(2026, 10, 21);
let authority: Authority;
let stranger: Authority;

beforeAll(async () => {
  [authority, stranger] = [await testAuthority('Known'), await testAuthority('Stranger')];
  setDefaultCACertificates([...KNOWN, authority.pem]);
});
afterAll(() => setDefaultCACertificates(KNOWN));

/** Connects as the relay does, and gives the socket to look at. */
async function shown<T>(by: Issued, look: (socket: TLSSocket) => T): Promise<T> {
  const server = createServer({ cert: by.cert, key: by.key }, (socket) => socket.on('error', () => undefined));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', servername: NAME, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const seen = look(socket);
  socket.destroy();
  server.close();
  return seen;
}

describe('by the authorities of this machine', () => {
  test.each([
    ['for its name', () => authority.issue([NAME]), undefined],
    ['by wildcard', () => authority.issue(['*.remote.test']), undefined],
    ['for another name', () => authority.issue(['mx.other.test']), 'certificate-host-mismatch'],
    ['by a wildcard for more labels', () => authority.issue(['*.test']), 'certificate-host-mismatch'],
    ['by a part of a label', () => authority.issue(['m*.remote.test']), 'certificate-host-mismatch'],
    ['in the old place for names alone', () => authority.issue([], { cn: NAME }), 'certificate-host-mismatch'],
    ['that is old', () => authority.issue([NAME], { notAfter: '2021-01-01' }), 'certificate-expired'],
    ['that is not valid yet', () => authority.issue([NAME], { notBefore: '2049-01-01' }), 'certificate-expired'],
    ['of a stranger', () => stranger.issue([NAME]), 'certificate-not-trusted'],
    ['of a stranger, alone', () => stranger.issue([NAME], { alone: true }), 'certificate-not-trusted'],
  ])('a certificate %s', async (_name, issue, failure) => {
    const distrust = await shown(await issue(), (socket) => verifyByAuthorities(socket, NAME));
    expect(distrust?.failure).toBe(failure);
  });
});

const spki = (one: X509Certificate): Buffer => one.publicKey.export({ format: 'der', type: 'spki' });
const digest = (octets: Buffer, how: string): Buffer => createHash(how).update(octets).digest();

function record(usage: number, selector: number, matchingType: number, of: X509Certificate): TlsaRecord {
  const octets = selector === 0 ? of.raw : spki(of);
  const data = matchingType === 0 ? octets : digest(octets, matchingType === 1 ? 'sha256' : 'sha512');
  return { usage, selector, matchingType, data };
}

const combinations = [0, 1].flatMap((selector) => [0, 1, 2].map((matching) => [selector, matching] as const));

describe('by TLSA records', () => {
  test('the chain of a connection is what the server sent', async () => {
    const issued = await stranger.issue([NAME]);
    const chain = await shown(issued, certificateChain);
    expect(chain.map((one) => one.fingerprint256)).toEqual([
      issued.leaf.fingerprint256,
      stranger.certificate.fingerprint256,
    ]);
  });

  test.each(combinations)('3 %i %i names the certificate, whatever its name and age', async (selector, matching) => {
    const issued = await stranger.issue(['mx.other.test'], { notAfter: '2021-01-01' });
    const other = await stranger.issue([NAME]);
    const chain = await shown(issued, certificateChain);
    expect(verifyByTlsa(chain, [record(3, selector, matching, issued.leaf)], [NAME], NOW)).toBeUndefined();
    const wrong = verifyByTlsa(chain, [record(3, selector, matching, other.leaf)], [NAME], NOW);
    expect(wrong?.failure).toBe('validation-failure');
  });

  test.each(combinations)('2 %i %i names the authority; name and age count', async (selector, matching) => {
    const records = [record(2, selector, matching, stranger.certificate)];
    const failureOf = async (issue: Promise<Issued>): Promise<string | undefined> =>
      verifyByTlsa(await shown(await issue, certificateChain), records, [NAME, 'remote.test'], NOW)?.failure;
    expect(await failureOf(stranger.issue([NAME]))).toBeUndefined();
    expect(await failureOf(stranger.issue(['remote.test']))).toBeUndefined();
    expect(await failureOf(stranger.issue([], { cn: NAME }))).toBeUndefined();
    expect(await failureOf(stranger.issue(['mx.other.test']))).toBe('certificate-host-mismatch');
    expect(await failureOf(stranger.issue([NAME], { notAfter: '2021-01-01' }))).toBe('certificate-expired');
    expect(await failureOf(authority.issue([NAME]))).toBe('validation-failure');
  });

  test('an authority that is not sent along counts when the record holds it whole', async () => {
    const chain = await shown(await stranger.issue([NAME], { alone: true }), certificateChain);
    const failure = (one: TlsaRecord) => verifyByTlsa(chain, [one], [NAME], NOW)?.failure;
    expect(failure(record(2, 0, 0, stranger.certificate))).toBeUndefined();
    expect(failure(record(2, 1, 0, stranger.certificate))).toBeUndefined();
    expect(failure(record(2, 0, 1, stranger.certificate))).toBe('validation-failure');
    expect(failure(record(2, 0, 0, authority.certificate))).toBe('validation-failure');
  });

  test('an authority that is only claimed proves nothing', async () => {
    // Its name is that of the anchor and the anchor is sent along, yet another key signed.
    const impostor = await testAuthority('Stranger');
    const issued = await impostor.issue([NAME], { alone: true });
    const forged = { ...issued, cert: `${issued.cert}\n${stranger.pem}` };
    const chain = await shown(forged, certificateChain);
    expect(verifyByTlsa(chain, [record(2, 0, 1, stranger.certificate)], [NAME], NOW)?.failure).toBe(
      'validation-failure',
    );
  });

  test('one record that fits is enough, and none without a certificate', async () => {
    const issued = await stranger.issue([NAME]);
    const chain = await shown(issued, certificateChain);
    const records = [record(3, 1, 1, authority.certificate), record(3, 1, 1, issued.leaf)];
    expect(verifyByTlsa(chain, records, [NAME], NOW)).toBeUndefined();
    expect(verifyByTlsa([], records, [NAME], NOW)?.failure).toBe('validation-failure');
  });
});

test.each([
  [3, 1, 1, 32, true],
  [2, 0, 2, 64, true],
  [3, 0, 0, 500, true],
  [0, 0, 1, 32, false],
  [1, 1, 1, 32, false],
  [4, 1, 1, 32, false],
  [3, 2, 1, 32, false],
  [3, 1, 3, 32, false],
  [3, 1, 1, 31, false],
  [3, 1, 2, 32, false],
  [3, 0, 0, 0, false],
])('%i %i %i of %i octets is usable: %s', (usage, selector, matchingType, length, usable) => {
  const data = Buffer.alloc(length);
  expect(usableRecords([{ usage, selector, matchingType, data }])).toHaveLength(usable ? 1 : 0);
});
