import { describe, expect, test } from 'vitest';
import type { Authentication, Dmarc, Sealer } from '../../../mail/auth/authentication.ts';
import { decideDmarc, type DmarcHandling, trustedSealer, vouchingSealer } from '../../../mail/auth/dmarc-decision.ts';

const sealer: Sealer = { domain: 'lists.example', dmarc: 'pass', spf: '', dkim: '' };

function found(dmarc: Partial<Dmarc>, more: Partial<Authentication> = {}): Authentication {
  return {
    spf: { result: 'none', domain: '' },
    dkim: [],
    dmarc: {
      result: 'fail',
      policy: 'reject',
      domain: 'a.example',
      organization: 'a.example',
      aligned: false,
      ...dmarc,
    },
    arc: 'none',
    iprev: { result: 'none', name: '', ip: '192.0.2.1' },
    ...more,
  };
}

const decide = (one: Authentication, handling: DmarcHandling = 'follow') =>
  decideDmarc(one, { handling, sealer: trustedSealer(one, ['lists.example']) });

describe('what fails', () => {
  test.each([
    ['reject', 'follow', 'refuse'],
    ['reject', 'junk', 'junk'],
    ['reject', 'mark', 'mark'],
    ['quarantine', 'follow', 'junk'],
    ['quarantine', 'junk', 'junk'],
    ['quarantine', 'mark', 'mark'],
    ['none', 'follow', 'mark'],
    ['none', 'junk', 'mark'],
    ['none', 'mark', 'mark'],
  ] as const)('with p=%s and %s: %s', (policy, handling, kind) => {
    expect(decide(found({ policy }), handling).kind).toBe(kind);
  });

  test('is refused in a sentence that names the domain', () => {
    expect(decide(found({}))).toEqual({
      kind: 'refuse',
      why: 'It says that it is from a.example, which does not vouch for it and asks to refuse it',
      status: '5.7.1',
    });
  });
});

test('what passes or asks for nothing passes', () => {
  expect(decide(found({ result: 'pass' })).kind).toBe('pass');
  expect(decide(found({ result: 'none', policy: 'none' })).kind).toBe('pass');
  expect(decide(found({ result: 'none', policy: 'none', domain: '' }))).toMatchObject({
    why: 'Its author asks for nothing',
  });
});

test('what has not one author is refused, whatever the tenant wants', () => {
  for (const handling of ['follow', 'junk', 'mark'] as const) {
    expect(decide(found({ result: 'permerror', policy: 'none', why: 'no From field' }), handling)).toEqual({
      kind: 'refuse',
      why: 'It has no From field, where one author is wanted',
      status: '5.6.0',
    });
  }
});

describe('what could not be found out', () => {
  test.each([
    ['none', 'follow', 'mark'],
    ['quarantine', 'follow', 'later'],
    ['reject', 'follow', 'later'],
    ['reject', 'junk', 'later'],
    ['reject', 'mark', 'mark'],
  ] as const)('with p=%s and %s: %s', (policy, handling, kind) => {
    expect(decide(found({ result: 'temperror', policy }), handling).kind).toBe(kind);
  });
});

describe('a trusted sealer', () => {
  test.each<[string, Partial<Authentication>, string]>([
    ['who saw it pass is believed', { arc: 'pass', sealer }, 'pass'],
    [
      'who saw it pass by DKIM, and does not tell DMARC',
      { arc: 'pass', sealer: { ...sealer, dmarc: '', dkim: 'pass' } },
      'pass',
    ],
    [
      'who saw it pass by SPF, and does not tell DMARC',
      { arc: 'pass', sealer: { ...sealer, dmarc: '', spf: 'pass' } },
      'pass',
    ],
    ['who saw it fail is believed too', { arc: 'pass', sealer: { ...sealer, dmarc: 'fail', dkim: 'pass' } }, 'refuse'],
    ['who tells nothing', { arc: 'pass', sealer: { ...sealer, dmarc: '' } }, 'refuse'],
    ['whose chain is broken', { arc: 'fail', sealer }, 'refuse'],
    ['whose chain could not be checked', { arc: 'temperror', sealer }, 'refuse'],
    ['who is somebody else', { arc: 'pass', sealer: { ...sealer, domain: 'x.lists.example' } }, 'refuse'],
  ])('%s', (_what, more, kind) => {
    expect(decide(found({}, more)).kind).toBe(kind);
  });

  test('saves what the DNS could not tell, and gives nobody two authors', () => {
    const more = { arc: 'pass', sealer } as const;
    expect(decide(found({ result: 'temperror' }, more)).kind).toBe('pass');
    expect(decide(found({ result: 'permerror', policy: 'none' }, more)).kind).toBe('refuse');
  });
});

test('only a trusted sealer who saw DMARC pass vouches for the author', () => {
  const vouches = (more: Partial<Sealer>, arc: Authentication['arc'] = 'pass') =>
    vouchingSealer(found({}, { arc, sealer: { ...sealer, ...more } }), ['lists.example']);
  expect(vouches({})).toBe('lists.example');
  expect(vouches({}, 'fail')).toBeUndefined();
  expect(vouches({ domain: 'other.example' })).toBeUndefined();
  expect(vouches({ dmarc: 'fail', dkim: 'pass' })).toBeUndefined();
  // It may have been the signature of anybody.
  expect(vouches({ dmarc: '', dkim: 'pass', spf: 'pass' })).toBeUndefined();
});
