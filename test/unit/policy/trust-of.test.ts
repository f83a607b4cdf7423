import { expect, test } from 'vitest';
import { UNKNOWN } from '../../../mail/auth/authenticate.ts';
import { keywordsOf, trustOf } from '../../../mail/policy/trust-of.ts';

const trusted = (flag: string): ReturnType<typeof trustOf> =>
  trustOf(UNKNOWN, { kind: 'inbox', score: 3, findings: [{ rule: 'x', score: 3, why: 'y', flag }] }, false);

test.each(['phishing', 'executable-attachment', 'look-alike-domain', 'spoofed-sender'])(
  'what is flagged as %s is not clear, wherever it is',
  (flag) => expect(trusted(flag).verdict).toBe('suspicious'),
);

test('bulk mail in the inbox is clear', () => expect(trusted('bulk').verdict).toBe('clear'));

test('only what pretends to be somebody is told to be phishing', () => {
  expect(keywordsOf(trusted('phishing'), 'inbox')).toEqual(['$Phishing']);
  expect(keywordsOf(trusted('executable-attachment'), 'inbox')).toEqual([]);
});
