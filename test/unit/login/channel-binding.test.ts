import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTcp, createServer, type AddressInfo } from 'node:net';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { channelBindingOf } from '../../../mail/login/channel-binding.ts';
import { testCertificate } from '../../support/certificate.ts';
import { loginWorld, loginOf, PEER, scram } from '../../support/login-world.ts';

const USER = 'me@box.test';

/** Both ends of a TLS connection. */
async function tlsPair(
  version: 'TLSv1.2' | 'TLSv1.3',
  run: (server: TLSSocket, client: TLSSocket) => void,
): Promise<void> {
  const secureContext = createSecureContext({ ...(await testCertificate('imap.box.test')), maxVersion: version });
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const raw = connectTcp((server.address() as AddressInfo).port, '127.0.0.1');
  const [plain] = await accepted;
  const ours = new TLSSocket(plain, { isServer: true, secureContext });
  const client = connect({ socket: raw, rejectUnauthorized: false });
  await Promise.all([once(ours, 'secure'), once(client, 'secureConnect')]);
  try {
    run(ours, client);
  } finally {
    client.destroy();
    ours.destroy();
    server.close();
  }
}

test('both ends of TLS 1.3 have the same exporter binding, and the hash of the certificate', async () => {
  await tlsPair('TLSv1.3', (server, client) => {
    const binding = channelBindingOf(server);
    const exported = client.exportKeyingMaterial(32, 'EXPORTER-Channel-Binding', Buffer.alloc(0));
    expect(binding?.('tls-exporter')).toEqual(exported);
    const certificate = client.getPeerX509Certificate();
    expect(binding?.('tls-server-end-point')).toEqual(
      createHash('sha256')
        .update(certificate?.raw ?? '')
        .digest(),
    );
    expect(binding?.('tls-unique')).toBeUndefined();
  });
});

test('TLS 1.2 has no exporter binding, and a connection without TLS has none at all', async () => {
  await tlsPair('TLSv1.2', (server) => {
    expect(channelBindingOf(server)?.('tls-exporter')).toBeUndefined();
    expect(channelBindingOf(server)?.('tls-server-end-point')?.length).toBe(32);
  });
  expect(channelBindingOf(undefined)).toBeUndefined();
});

const DATA = randomBytes(32);
const BOUND = { ...PEER, channelBinding: (type: string) => (type === 'tls-exporter' ? DATA : undefined) };

test('SCRAM-SHA-256-PLUS logs in over the connection that the client sees, and over no other', async () => {
  const { logins, credentials } = loginWorld();
  await credentials.add(USER, 'secret');
  const plus = { mechanism: 'SCRAM-SHA-256-PLUS', gs2: 'p=tls-exporter,,' };
  expect(logins.mechanisms(BOUND)[0]).toBe('SCRAM-SHA-256-PLUS');
  expect(loginOf(await scram(logins, USER, 'secret', BOUND, { ...plus, binding: DATA })).account).toBe(1);
  expect(await scram(logins, USER, 'wrong', BOUND, { ...plus, binding: DATA })).toEqual({ kind: 'wrong' });
  const elsewhere = await scram(logins, USER, 'secret', BOUND, { ...plus, binding: randomBytes(32) });
  expect(elsewhere).toMatchObject({ kind: 'malformed' });
  expect(await scram(logins, USER, 'secret', BOUND, plus)).toMatchObject({ kind: 'malformed' });
});

test.each([
  ['-PLUS without channel binding', 'SCRAM-SHA-256-PLUS', 'n,,'],
  ['a binding that the connection has not', 'SCRAM-SHA-256-PLUS', 'p=tls-unique,,'],
  ['a binding without -PLUS', 'SCRAM-SHA-256', 'p=tls-exporter,,'],
  ['a client that did not see -PLUS in the list', 'SCRAM-SHA-256', 'y,,'],
])('refused: %s', async (_, mechanism, gs2) => {
  const { logins, credentials } = loginWorld();
  await credentials.add(USER, 'secret');
  expect(await scram(logins, USER, 'secret', BOUND, { mechanism, gs2 })).toMatchObject({ kind: 'malformed' });
});

test('without TLS there is no -PLUS, and a client that knows that logs in', async () => {
  const { logins, credentials } = loginWorld();
  await credentials.add(USER, 'secret');
  expect(logins.mechanisms(PEER)).not.toContain('SCRAM-SHA-256-PLUS');
  expect(logins.start('SCRAM-SHA-256-PLUS', PEER)).toBeUndefined();
  expect(loginOf(await scram(logins, USER, 'secret', PEER, { gs2: 'y,,' })).account).toBe(1);
});
