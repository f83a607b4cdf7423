import dns from 'node:dns';
import { afterEach, expect, test, vi } from 'vitest';
import { loadSettings } from '../../../config/load.ts';
import { quiet } from '../../../mail/log.ts';
import { OutboundTls } from '../../../src/tls/outbound-tls.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';
import { testStore } from '../../support/store.ts';

afterEach(() => void vi.restoreAllMocks());

test.each([
  ['127.0.0.1:53', 'auto', true],
  ['[::1]:53,127.0.0.1:5300', 'auto', true],
  ['127.0.0.1:53,192.0.2.1:53', 'auto', false],
  ['192.0.2.1:53', 'auto', false],
  ['192.0.2.1:53', 'on', true],
  ['127.0.0.11:53', 'auto', false],
  ['127.0.0.53:53', 'auto', false],
  ['127.0.0.53:53', 'on', true],
  ['127.0.0.1:53', 'off', false],
])('resolvers %s, DNSSEC %s: DANE %s', async (resolvers, dnssec, dane) => {
  const settings = loadSettings({ MAILSTEAD_RESOLVERS: resolvers, MAILSTEAD_DNSSEC: dnssec }, []);
  if ('problem' in settings) throw new Error(settings.problem);
  await using stored = await testStore();
  const around = { settings, store: stored.store, resolver: fakeResolver({}), clock: () => 0, log: quiet };
  await using tls = new OutboundTls({ ...around, metrics: quiet });
  expect(tls.dane).toBe(dane);
});

test.each([
  [['127.0.0.1'], true],
  [['::1', '127.0.0.1:5353', '[::1]:5353'], true],
  [['127.0.0.1', '2001:db8::1'], false],
  [['[2001:db8::1]:53'], false],
  [[], false],
])('the resolvers of the system, %j: DANE %s', async (servers, dane) => {
  vi.spyOn(dns, 'getServers').mockReturnValue(servers);
  const settings = loadSettings({}, []);
  if ('problem' in settings) throw new Error(settings.problem);
  await using stored = await testStore();
  const around = { settings, store: stored.store, resolver: fakeResolver({}), clock: () => 0, log: quiet };
  await using tls = new OutboundTls({ ...around, metrics: quiet });
  expect(tls.dane).toBe(dane);
});
