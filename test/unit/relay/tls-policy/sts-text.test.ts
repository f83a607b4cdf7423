import { describe, expect, test } from 'vitest';
import { matchesMx, readStsPolicy, readStsRecord } from '../../../../mail/relay/tls-policy/sts-text.ts';
import { growth, PROPORTIONAL } from '../../../support/cost.ts';

describe('the TXT record', () => {
  test.each([
    [['v=STSv1; id=20260101T000000;'], '20260101T000000'],
    [['v=STSv1;id=a1'], 'a1'],
    [['v=spf1 -all', 'v=STSv1; id=a1; extra=x'], 'a1'],
    [['v=STSv1 ; id = a1 ;'], 'a1'],
    [[], undefined],
    [['v=STSv1; id=a1', 'v=STSv1; id=a2'], undefined],
    [['v=STSv1; id='], undefined],
    [['v=STSv1; id=a-1'], undefined],
    [[`v=STSv1; id=${'a'.repeat(33)}`], undefined],
    [['v=STSv1; id=a1; id=a2'], undefined],
    [['v=STSv11; id=a1'], undefined],
    [['V=STSv1; id=a1'], undefined],
    [['id=a1; v=STSv1'], undefined],
  ])('%j', (records, id) => {
    expect(readStsRecord(records)).toEqual(id === undefined ? { kind: 'none' } : { kind: 'id', id });
  });
});

const POLICY = 'version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.Example.net\r\nmax_age: 604800\r\n';

describe('the policy', () => {
  test('as the RFC shows it, with CRLF or LF', () => {
    const read = { mode: 'enforce', mx: ['mail.example.com', '*.example.net'], maxAge: 604_800 };
    expect(readStsPolicy(POLICY)).toEqual(read);
    expect(readStsPolicy(POLICY.replaceAll('\r', ''))).toEqual(read);
    expect(readStsPolicy(`${POLICY}unknown_field: x\r\nmode: none\r\nmax_age: 1\r\n`)).toEqual(read);
  });

  test.each([
    ['none needs no mx', 'version: STSv1\nmode: none\nmax_age: 86400', { mode: 'none', mx: [] }],
    ['testing', 'version: STSv1\nmode: testing\nmx: a.test\nmax_age: 0', { mode: 'testing', maxAge: 0 }],
    ['too old is a year', 'version: STSv1\nmode: testing\nmx: a.test\nmax_age: 9999999999', { maxAge: 31_557_600 }],
  ])('%s', (_name, text, read) => {
    expect(readStsPolicy(text)).toMatchObject(read);
  });

  test.each([
    ['', 'version'],
    ['version: STSv2\nmode: none\nmax_age: 1', 'version'],
    ['version: STSv1\nmode: ENFORCE\nmx: a.test\nmax_age: 1', 'mode'],
    ['version: STSv1\nmx: a.test\nmax_age: 1', 'mode'],
    ['version: STSv1\nmode: enforce\nmax_age: 1', 'no mx'],
    ['version: STSv1\nmode: enforce\nmx: a.test', 'max_age'],
    ['version: STSv1\nmode: enforce\nmx: a.test\nmax_age: -1', 'max_age'],
    ['version: STSv1\nmode: enforce\nmx: a b\nmax_age: 1', 'host name'],
    ['version: STSv1\nmode: enforce\nmx: a.*.test\nmax_age: 1', 'host name'],
    ['version: STSv1\nmode: enforce\nmx: *.*.test\nmax_age: 1', 'host name'],
    [`version: STSv1\nmode: enforce\n${'mx: a.test\n'.repeat(201)}max_age: 1`, 'too many'],
    ['<html>version: STSv1</html>', 'version'],
  ])('%j is none', (text, why) => {
    expect(readStsPolicy(text)).toEqual({ problem: expect.stringContaining(why) as unknown });
  });

  test.each(['a', ' ', ':', 'mx: ', 'mx:\t', '\n'])('64 KiB of %j take time by their length', async (filler) => {
    const read = (size: number): void =>
      expect(readStsPolicy(filler.repeat(size / filler.length))).toHaveProperty('problem');
    expect(await growth(read, 65_536)).toBeLessThan(PROPORTIONAL);
  });
});

test.each([
  ['mail.example.com', true],
  ['MAIL.example.com', true],
  ['a.example.net', true],
  ['a.b.example.net', false],
  ['example.net', false],
  ['.example.net', false],
  ['xexample.net', false],
  ['other.example.com', false],
])('%s: %s', (host, expected) => {
  expect(matchesMx(['mail.example.com', '*.example.net'], host)).toBe(expected);
});
