import { describe, expect, test } from 'vitest';
import { adviseDmarc, adviseSts, sourceSentence, tlsSentences } from '../../../src/reports/advice.ts';
import type { DaySum, SourceSum } from '../../../src/reports/queries.ts';

const source = (over: Partial<SourceSum>): SourceSum => ({
  source: '203.0.113.9',
  messages: 2310,
  passed: 0,
  spf: 0,
  dkim: 0,
  quarantined: 0,
  rejected: 0,
  unsigned: 0,
  forwarded: 0,
  spfDomain: 'esp.example',
  dkimDomain: '',
  ...over,
});

describe('the sentence about a source', () => {
  test.each<[string, Partial<SourceSum>, RegExp | undefined]>([
    ['all fails', {}, /^Mail from 203\.0\.113\.9 \(2,310 messages\) fails SPF and DKIM: if this is your newsletter/],
    ['all passes', { passed: 2310, dkim: 2310 }, undefined],
    ['too little fails', { passed: 2301 }, undefined],
    ['forwarded', { forwarded: 2000 }, /nothing to do/],
    ['some signed', { passed: 1000, spf: 1000, dkim: 500 }, /have the service sign with your domain/],
    ['some by SPF', { passed: 1000, dkim: 1000, spf: 0 }, /add it to SPF/],
    ['combined', { source: '' }, /^Mail from many small sources/],
  ])('%s', (_, over, sentence) => {
    const said = sourceSentence(source(over));
    if (sentence === undefined) expect(said).toBeUndefined();
    else expect(said).toMatch(sentence);
  });

  test('holds no text of a stranger', () => {
    expect(sourceSentence(source({}))).not.toContain('esp.example');
  });
});

const days = (count: number, over: Partial<DaySum> = {}): DaySum[] =>
  Array.from({ length: count }, (_, day) => ({
    day,
    total: 100,
    passed: 100,
    signed: 100,
    signedPassed: 100,
    ...over,
  }));

describe('advice on DMARC', () => {
  test.each([
    ['too few days', 'none', days(13), null],
    ['all passes', 'none', days(14), 'quarantine'],
    ['all passes', 'quarantine', days(14), 'reject'],
    ['the last step', 'reject', days(14), null],
    ['much fails', 'none', days(14, { signedPassed: 97 }), null],
    ['a little fails', 'none', days(14, { signedPassed: 98 }), 'quarantine'],
    ['unsigned reports do not count', 'none', days(14, { signed: 0, signedPassed: 0 }), null],
    ['failures in unsigned reports neither', 'none', days(14, { total: 1000 }), 'quarantine'],
  ] as const)('%s, from %s', (_, policy, sums, next) => {
    expect(adviseDmarc(policy, sums).next).toBe(next);
  });
});

describe('advice on MTA-STS', () => {
  test.each([
    ['no policy', null, 0, [], 'testing'],
    ['none', 'none', 0, [], 'testing'],
    ['too short', 'testing', 13, days(14), null],
    ['few reports', 'testing', 30, days(4), null],
    ['few sessions', 'testing', 30, days(5, { signed: 1, signedPassed: 1 }), null],
    ['failures', 'testing', 30, days(14, { signedPassed: 99 }), null],
    ['clean', 'testing', 14, days(5), 'enforce'],
    ['unsigned reports', 'testing', 14, days(14, { signed: 0, signedPassed: 0 }), null],
    ['enforced', 'enforce', 1, days(5), null],
    ['enforced with failures', 'enforce', 1, days(5, { signedPassed: 99 }), 'testing'],
  ] as const)('%s', (_, mode, testing, sums, next) => {
    expect(adviseSts(mode, testing, sums).next).toBe(next);
  });

  test('each cause of a failure has a sentence', () => {
    const sum = { policyType: 'sts', mx: '', unsigned: 0 };
    expect(
      tlsSentences([
        { ...sum, result: 'success', sessions: 10 },
        { ...sum, result: 'certificate-expired', sessions: 1 },
        { ...sum, result: 'certificate-expired', sessions: 2 },
        { ...sum, result: 'other', sessions: 1 },
      ]),
    ).toEqual(['3 sessions failed: the certificate had expired: renew it.', '1 session failed: for another reason.']);
  });
});
