import { describe, expect, test } from 'vitest';
import type { DmarcDecision } from '../../../mail/auth/dmarc-decision.ts';
import type { Finding } from '../../../mail/policy/finding.ts';
import { type Case, decide } from '../../../mail/policy/verdict.ts';

const PASS: DmarcDecision = { kind: 'pass', why: '' };
const REFUSE: DmarcDecision = { kind: 'refuse', why: 'It fails the policy of bank.example' };
const JUNK: DmarcDecision = { ...REFUSE, kind: 'junk' };
const MARK: DmarcDecision = { ...REFUSE, kind: 'mark' };
const LATER: DmarcDecision = { kind: 'later', why: 'Its author could not be checked' };
const against = (score: number, more: Partial<Finding> = {}): Finding => ({ rule: 'words', score, why: 'w', ...more });

function decided(over: Partial<Case>): ReturnType<typeof decide> {
  return decide({ author: PASS, findings: [], ...over });
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
    ['it is only said of the author', { author: MARK }, 'inbox', 0],
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
    const { findings } = decided({ author: MARK });
    expect(findings).toEqual([{ rule: 'author', score: 0, why: MARK.why, flag: 'unproven-author' }]);
  });
});
