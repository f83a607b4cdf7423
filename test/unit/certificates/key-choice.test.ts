import { expect, test } from 'vitest';
import type { Lookup, TlsaRecord } from '../../../mail/dns/lookup.ts';
import { keyForRenewal, OVERLAP_MS } from '../../../src/certificates/key-choice.ts';

const used = { spki: 'aa', pem: '', state: 'used' as const, createdAt: 0, seenAt: null, seenTtl: null };
/** Created long before its record was seen. */
const next = { spki: 'bb', pem: '', state: 'next' as const, createdAt: -9 * OVERLAP_MS, seenAt: 0, seenTtl: 60_000 };
const found = (...all: string[]): Lookup<TlsaRecord> => ({
  kind: 'found',
  records: all.map((hex) => ({ usage: 3, selector: 1, matchingType: 1, data: Buffer.from(hex, 'hex') })),
});

test.each<[string, Lookup<TlsaRecord>, number, string]>([
  ['no TLSA records', { kind: 'none', nx: true }, OVERLAP_MS, 'bb'],
  ['the DNS does not answer', { kind: 'trouble', why: 'timeout' }, OVERLAP_MS, 'aa'],
  ['both keys published for long', found('aa', 'bb'), OVERLAP_MS, 'bb'],
  ['both keys published just now', found('aa', 'bb'), OVERLAP_MS - 1, 'aa'],
  ['only the used key published', found('aa'), OVERLAP_MS, 'aa'],
  ['records of other keys', found('cc'), OVERLAP_MS, 'aa'],
])('with %s', (_, records, now, chosen) => {
  expect(keyForRenewal([next, used], records, now)?.spki).toBe(chosen);
});

test('a record that was never seen, or has a long TTL, keeps the used key', () => {
  const chosen = (over: { seenAt?: number | null; seenTtl?: number }, now: number): string | undefined =>
    keyForRenewal([{ ...next, ...over }, used], found('aa', 'bb'), now)?.spki;
  expect(chosen({ seenAt: null }, 99 * OVERLAP_MS)).toBe('aa');
  const day = { seenTtl: 24 * OVERLAP_MS };
  expect(chosen(day, 48 * OVERLAP_MS - 1)).toBe('aa');
  expect(chosen(day, 48 * OVERLAP_MS)).toBe('bb');
});

test('the first certificate uses the next key, as there is no other', () => {
  expect(keyForRenewal([next], found('cc'), 0)?.spki).toBe('bb');
});
