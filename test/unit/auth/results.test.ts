import { describe, expect, test } from 'vitest';
import { type Authentication, NO_AUTHOR, resultsText } from '../../../mail/auth/authentication.ts';
import { readAuthenticationResults } from '../../../mail/auth/results-reader.ts';
import { assert, constantFrom, oneof, property, string } from '../../support/fast-check.ts';

const FOUND: Authentication = {
  spf: { result: 'pass', domain: 'box.example' },
  dkim: [
    { result: 'pass', domain: 'box.example', selector: 's1' },
    { result: 'fail', domain: 'list.example', selector: 'k2', why: 'the body is not the one that was signed' },
  ],
  dmarc: { result: 'pass', policy: 'reject', domain: 'box.example', organization: 'box.example', aligned: true },
  arc: 'pass',
  sealer: { domain: 'list.example', dmarc: 'pass', spf: 'pass', dkim: 'pass' },
  iprev: { result: 'pass', name: 'mx.box.example', ip: '2001:db8::1' },
};

test('all of them, on lines of 78', () => {
  expect(resultsText('mail.box.test', FOUND)).toBe(
    [
      'mail.box.test',
      '\tspf=pass smtp.mailfrom=box.example',
      '\tdkim=pass header.d=box.example header.s=s1',
      '\tdkim=fail (the body is not the one that was signed) header.d=list.example\r\n\theader.s=k2',
      '\tdmarc=pass (p=reject) header.from=box.example',
      '\tarc=pass header.d=list.example',
      '\tiprev=pass (mx.box.example) policy.iprev="2001:db8::1"',
    ].join(';\r\n'),
  );
});

test('nothing that is not known', () => {
  const nothing: Authentication = {
    spf: { result: 'none', domain: '', identity: 'helo' },
    dkim: [],
    dmarc: { result: 'permerror', ...NO_AUTHOR },
    arc: 'none',
    iprev: { result: 'permerror', name: '', ip: '192.0.2.1' },
  };
  expect(resultsText('mail.box.test', nothing)).toBe(
    'mail.box.test;\r\n\tspf=none;\r\n\tdkim=none;\r\n\tdmarc=permerror (p=none);\r\n\tarc=none;\r\n\tiprev=permerror policy.iprev=192.0.2.1',
  );
  expect(
    resultsText('mail.box.test', { ...FOUND, spf: { result: 'pass', domain: 'x.example', identity: 'helo' } }),
  ).toContain('spf=pass smtp.helo=x.example;');
});

test('are read back as they were meant, whatever strangers wrote', () => {
  const evil = oneof(
    string({ unit: 'binary', maxLength: 300 }),
    string({
      unit: constantFrom(';', '(', ')', '"', '\\', '\r\n', ' ', '=', 'dmarc=pass', 'x', '.', ':'),
      maxLength: 40,
    }),
  );
  assert(
    property(evil, evil, evil, (one, two, three) => {
      const text = resultsText('mail.box.test', {
        spf: { result: 'fail', domain: one },
        dkim: [{ result: 'neutral', domain: two, selector: three, why: one }],
        dmarc: { result: 'fail', policy: 'none', domain: three, organization: '', aligned: false },
        arc: 'pass',
        sealer: { domain: two, dmarc: '', spf: '', dkim: '' },
        iprev: { result: 'pass', name: one, ip: two },
      });
      expect(readAuthenticationResults(text)).toEqual({
        authserv: 'mail.box.test',
        results: [
          { method: 'spf', result: 'fail' },
          { method: 'dkim', result: 'neutral' },
          { method: 'dmarc', result: 'fail' },
          { method: 'arc', result: 'pass' },
          { method: 'iprev', result: 'pass' },
        ],
      });
      expect(text).toMatch(/^(?:[\x20-\x7e\t]{1,997}\r\n\t)*[\x20-\x7e]{1,998}$/);
    }),
    { numRuns: 500 },
  );
});

describe('results of others', () => {
  test.each<[string, string, [string, string][]]>([
    [
      'mx.example; spf=pass smtp.mailfrom=a@b; dkim=fail',
      'mx.example',
      [
        ['spf', 'pass'],
        ['dkim', 'fail'],
      ],
    ],
    ['mx.example 1; none', 'mx.example', []],
    ['mx.example', 'mx.example', []],
    ['(c) "MX.Example" (d) 1 ; (e) dmarc (f) / 1 = (g) Pass (p=none; dkim=pass)', 'mx.example', [['dmarc', 'pass']]],
    ['mx.example; dmarc/1=fail reason="dkim=pass; x" header.from=b', 'mx.example', [['dmarc', 'fail']]],
    ['mx.example;;; =; x; spf=none', 'mx.example', [['spf', 'none']]],
    ['mx.example; (never closed dmarc=pass', 'mx.example', []],
  ])('%s', (text, authserv, results) => {
    const read = readAuthenticationResults(text);
    expect([read?.authserv, read?.results.map(({ method, result }) => [method, result])]).toEqual([authserv, results]);
  });

  test.each(['', '  ', '; dmarc=pass', '(only a comment)', '='])('%j names no server', (text) => {
    expect(readAuthenticationResults(text)).toBeUndefined();
  });
});
