import { expect, test } from 'vitest';
import { UNAVAILABLE_AUTHENTICATION } from '../../../mail/auth/authenticate.ts';
import type { Finding } from '../../../mail/policy/finding.ts';
import { deriveKeywords, deriveTrust } from '../../../mail/policy/derive-trust.ts';
import type { FilterDecision } from '../../../mail/policy/verdict.ts';

function inbox(...findings: Finding[]): FilterDecision {
  return { kind: 'inbox', score: 3, findings };
}

const flagged = (flag: string): Finding => ({ rule: 'x', score: 3, why: 'y', flag });
const trusted = (decision: FilterDecision): ReturnType<typeof deriveTrust> =>
  deriveTrust(UNAVAILABLE_AUTHENTICATION, decision, false);
const keywords = (decision: FilterDecision): string[] => deriveKeywords(trusted(decision), decision);

test.each(['phishing', 'executable-attachment', 'look-alike-domain', 'spoofed-sender'])(
  'what is flagged as %s is not clear, wherever it is',
  (flag) => expect(trusted(inbox(flagged(flag))).verdict).toBe('suspicious'),
);

test('bulk mail in the inbox is clear', () => expect(trusted(inbox(flagged('bulk'))).verdict).toBe('clear'));

test('only what pretends to be somebody is reported to be phishing', () => {
  expect(keywords(inbox(flagged('phishing')))).toEqual(['$Phishing']);
  expect(keywords(inbox(flagged('executable-attachment')))).toEqual([]);
});

test('whom the account allows is marked as its own word; who only borrows such a name is not', () => {
  expect(keywords(inbox(flagged('phishing'), { rule: 'allow-list', score: -100, why: 'z' }))).toEqual(['$NotJunk']);
  expect(keywords(inbox(flagged('phishing'), { rule: 'allow-list', score: 0, why: 'z' }))).toEqual(['$Phishing']);
});
