import { describe, expect, test } from 'vitest';
import { createProviderTransport } from '../../../src/dns-providers/transport.ts';
import { providerRetryAfterMs, wordsOf } from '../../../src/dns-providers/provider-api.ts';
import { findTsig, signMessage, verifyResponse } from '../../../src/dns-providers/rfc2136/tsig.ts';
import { encodeQuery } from '../../../src/dns-providers/rfc2136/wire.ts';
import { serverAddress } from '../../../src/dns-providers/server-address.ts';
import { absoluteName, dataOf, relativeName, readRecordData } from '../../../src/dns-providers/zone-entry.ts';
import { privateNetworks } from '../../../config/parse.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';

describe('records in zone file form', () => {
  test.each([
    ['MX', '10 Mail.Example.NET.', '10 mail.example.net'],
    ['CNAME', 'Host.Example.', 'host.example'],
    ['SRV', '0  1 993\tmail.example.net.', '0 1 993 mail.example.net'],
    ['TXT', '"v=spf1 " "-all"', 'v=spf1 -all'],
    ['TXT', 'v=spf1 -all', 'v=spf1 -all'],
    ['TXT', '"a\\"b\\\\c\\233\\169"', 'a"b\\cé'.replace('é', Buffer.from([233, 169]).toString('utf8'))],
    ['CAA', '0 ISSUE letsencrypt.org', '0 issue "letsencrypt.org"'],
    ['TLSA', '3 1  1 AB12 cd', '3 1 1 ab12cd'],
    ['A', '192.0.2.1', '192.0.2.1'],
  ])('%s %s', (type, data, value) => {
    expect(readRecordData(type, data)).toBe(value);
  });

  test('a long text is split and read back', () => {
    const value = `v=DKIM1; p=${'A"\\é'.repeat(120)}`;
    const data = dataOf({ type: 'TXT', value });
    expect(data.split('" "').length).toBeGreaterThan(1);
    expect(readRecordData('TXT', data)).toBe(value);
  });

  test('names are relative to the zone and back', () => {
    expect(relativeName('example.net', 'example.net', '@')).toBe('@');
    expect(relativeName('a.b.example.net', 'example.net', '@')).toBe('a.b');
    expect(absoluteName('@', 'example.net')).toBe('example.net');
    expect(absoluteName('a.b', 'example.net')).toBe('a.b.example.net');
  });
});

describe('TSIG', () => {
  const key = { name: 'key', algorithm: 'hmac-sha256', secret: Buffer.alloc(32, 1) } as const;
  const now = Date.UTC(2026, 0, 1);

  test('a message without it, with a wrong code, and damaged ones are distinguished', () => {
    const { signed, mac } = signMessage(encodeQuery(7, 'example.net', 6), key, now);
    expect(findTsig(signed)?.keyName).toBe('key');
    expect(verifyResponse(encodeQuery(7, 'example.net', 6), key, mac, now)).toBe('unsigned');
    // The code of an answer covers that of its request. RFC 8945 5.3.1.
    expect(verifyResponse(signed, key, mac, now)).toBe('invalid');
    expect(verifyResponse(signed, { ...key, name: 'other' }, mac, now)).toBe('invalid');
    for (let size = 0; size < signed.length; size++) expect(findTsig(signed.subarray(0, size))).toBeUndefined();
  });

  test('a request has the time of its signature, and five minutes of tolerance', () => {
    const { signed } = signMessage(encodeQuery(7, 'example.net', 6), key, now);
    const found = findTsig(signed);
    expect(found?.seconds).toBe(now / 1000);
    expect(found?.fudge).toBe(300);
  });
});

describe('words of a provider', () => {
  test.each([
    ['{"message":"Bad\\ntoken"}', ': Bad token'],
    ['{"errors":[{"code":1,"message":"no"}]}', ': no'],
    ['{"error":{"message":"denied"}}', ': denied'],
    ['{"detail":"Invalid token."}', ': Invalid token.'],
    ['<html>', ''],
    ['', ''],
  ])('%s', (body, words) => {
    expect(wordsOf(body)).toBe(words);
  });

  test.each([
    ['7', 7_000],
    ['999999', 86_400_000],
    ['soon', 60_000],
    ['Thu, 01 Jan 2026 00:00:09 GMT', 9_000],
  ])('Retry-After: %s', (text, ms) => {
    expect(providerRetryAfterMs({ headers: { 'retry-after': text } }, Date.UTC(2026, 0, 1))).toBe(ms);
  });
});

describe('hosts that are reached', () => {
  const resolver = fakeResolver({
    'A ns.example.net': ['198.41.0.4'],
    'A inside.example.net': ['10.1.2.3'],
    'A api.example.net': ['127.0.0.1', '10.0.0.1'],
  });
  const allowed = (setting: string) => {
    const parsed = privateNetworks(setting);
    return parsed.ok ? parsed.value : expect.fail();
  };

  test.each([
    ['ns.example.net', 53, '', '198.41.0.4'],
    ['198.41.0.4', 5353, '', '198.41.0.4'],
    ['inside.example.net', 53, '10.0.0.0/8', '10.1.2.3'],
  ])('%s %i with %s', async (host, port, setting, ip) => {
    expect(await serverAddress({ host, port }, allowed(setting || 'false'), resolver)).toBe(ip);
  });

  test.each([
    ['inside.example.net', 53, 'private address'],
    ['169.254.169.254', 53, 'private address'],
    ['ns.example.net', 25, 'Port 25 is not allowed'],
    ['nowhere.example.net', 53, 'no address'],
    ['a b', 53, 'must be a host name'],
  ])('%s %i is refused', async (host, port, why) => {
    await expect(serverAddress({ host, port }, allowed('false'), resolver)).rejects.toThrow(why);
  });

  test('the API of a provider at private addresses is not reached', async () => {
    const transport = createProviderTransport({ resolver });
    const request = { method: 'GET', url: new URL('https://api.example.net/'), headers: {} } as const;
    await expect(transport(request, new AbortController().signal)).rejects.toThrow('api.example.net cannot be reached');
  });
});
