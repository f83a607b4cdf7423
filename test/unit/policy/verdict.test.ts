import { describe, expect, test } from 'vitest';
import type { Finding } from '../../../mail/policy/finding.ts';
import { MAIL_POLICY, type MailPolicy } from '../../../mail/policy/mail-policy.ts';
import { type AuthorDecision, type Case, decide } from '../../../mail/policy/verdict.ts';

const PASS: AuthorDecision = { kind: 'pass', why: '' };
const REFUSE: AuthorDecision = { kind: 'refuse', why: 'It fails the policy of bank.example' };
const JUNK: AuthorDecision = { ...REFUSE, kind: 'junk' };
const LATER: AuthorDecision = { kind: 'later', why: 'Its author could not be checked' };
const against = (score: number, more: Partial<Finding> = {}): Finding => ({ rule: 'words', score, why: 'w', ...more });

function decided(over: Partial<Omit<Case, 'policy'>> & { policy?: Partial<MailPolicy> }): ReturnType<typeof decide> {
  const { policy, ...rest } = over;
  return decide({ author: PASS, findings: [], ...rest, policy: { ...MAIL_POLICY, ...policy } });
}

describe('where a message goes', () => {
  test.each([
    ['nothing is known', {}, 'inbox', 0],
    ['the scores stay below the limit', { findings: [against(2.5), against(2.4)] }, 'inbox', 4.9],
    ['the scores come to the limit', { findings: [against(2.5), against(2.5)] }, 'junk', 5],
    ['what is known of the sender outweighs the words', { findings: [against(6), against(-3)] }, 'inbox', 3],
    ['fraud', { findings: [against(1, { refuse: true })] }, 'refuse', 1],
    ['the domain of the author asks for refusal', { author: REFUSE }, 'refuse', 0],
    ['the domain of the author asks for junk', { author: JUNK }, 'junk', 5],
    ['only the DNS could tell', { author: LATER }, 'later', 0],
    ['refusal, and the tenant wants it in Junk', { author: REFUSE, policy: { dmarc: 'junk' } }, 'junk', 5],
    ['refusal, and the tenant wants it only marked', { author: REFUSE, policy: { dmarc: 'mark' } }, 'inbox', 0],
    ['junk, and the tenant wants it only marked', { author: JUNK, policy: { dmarc: 'mark' } }, 'inbox', 0],
  ] as const)('%s', (_, over, kind, score) => {
    expect(decided(over)).toMatchObject({ kind, score });
  });

  test('a list of the recipient outweighs everything', () => {
    const allow = { kind: 'allow', why: 'You allowed it' } as const;
    const block = { kind: 'block', why: 'You blocked it' } as const;
    expect(decided({ author: REFUSE, findings: [against(50, { refuse: true })], rule: allow })).toMatchObject({
      kind: 'inbox',
    });
    expect(decided({ findings: [against(-50)], rule: block })).toMatchObject({
      kind: 'refuse',
      because: 'You blocked it',
    });
  });

  test('an author who is doubted is named among the reasons, whatever comes of it', () => {
    const { findings } = decided({ author: REFUSE, policy: { dmarc: 'mark' } });
    expect(findings).toEqual([{ rule: 'author', score: 0, why: REFUSE.why, flag: 'unproven-author' }]);
  });
});
