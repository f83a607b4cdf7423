import { describe, expect, test } from 'vitest';
import { UNAVAILABLE_AUTHENTICATION } from '../../../mail/auth/authenticate.ts';
import type { DmarcDecision } from '../../../mail/auth/dmarc-decision.ts';
import type { Finding } from '../../../mail/policy/finding.ts';
import { clamavFindings } from '../../../mail/filter/scanners/clamav-response.ts';
import { checkPrograms } from '../../../mail/policy/checks/attachments.ts';
import { networksOf } from '../../../mail/policy/network-pattern.ts';
import { matchSenderRules } from '../../../mail/policy/sender-rules.ts';
import { deriveKeywords, deriveTrust } from '../../../mail/policy/derive-trust.ts';
import { type VerdictInput, type FilterDecision, decideVerdict } from '../../../mail/policy/verdict.ts';
import { nobodyRequested, sampleWith } from '../../support/sample.ts';

const PASS: DmarcDecision = { kind: 'pass', why: '' };
const REFUSE: DmarcDecision = { kind: 'refuse', why: 'It fails the policy of bank.example' };
const JUNK: DmarcDecision = { ...REFUSE, kind: 'junk' };
const MARK: DmarcDecision = { ...REFUSE, kind: 'mark' };
const LATER: DmarcDecision = { kind: 'later', why: 'Its author could not be checked' };
const against = (score: number, more: Partial<Finding> = {}): Finding => ({ rule: 'words', score, why: 'w', ...more });

function decided(over: Partial<VerdictInput>): ReturnType<typeof decideVerdict> {
  return decideVerdict({ author: PASS, findings: [], ...over });
}

describe('where a message goes', () => {
  test.each([
    ['nothing is known', {}, 'inbox', 0],
    ['the scores stay below the limit', { findings: [against(2.5), against(2.4)] }, 'inbox', 4.9],
    ['the scores come to the limit', { findings: [against(2.5), against(2.5)] }, 'junk', 5],
    ['what is known of the sender outweighs the words', { findings: [against(6), against(-3)] }, 'inbox', 3],
    ['fraud', { findings: [against(1, { refuse: true })] }, 'refuse', 1],
    ['the domain of the author asks for refusal', { author: REFUSE }, 'refuse', 5],
    ['the domain of the author asks for junk', { author: JUNK }, 'junk', 5],
    ['only the DNS could tell', { author: LATER }, 'later', 5],
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
    const doubt = { rule: 'author', why: MARK.why, flag: 'unproven-author' };
    expect(decided({ author: MARK }).findings).toEqual([{ ...doubt, score: 0 }]);
    expect(decided({ author: REFUSE }).findings).toEqual([{ ...doubt, score: 5 }]);
  });
});

const PATTERNS = ['ann@shop.example', 'shop.example', '*.example', '192.0.2.7/32', '192.0.0.0/16'];
const KINDS = PATTERNS.flatMap((pattern) => [1, null].map((account) => ({ pattern, account })));

/** As it stands for who allows it by a rule of this kind; a network needs no proof of the author. */
function allowedBy(
  rule: (typeof KINDS)[number],
  findings: readonly Finding[],
  over: Partial<VerdictInput> = {},
): FilterDecision {
  const aligned = !rule.pattern.includes('/');
  const author = { local: 'ann', domain: 'shop.example' };
  const writer = { author, sender: undefined, aligned, networks: networksOf('192.0.2.7') };
  const ruling = matchSenderRules([{ kind: 'allow', ...rule }], writer);
  if (ruling?.kind !== 'allow') throw new Error('it is not allowed');
  return decided({ findings, rule: { kind: 'allow', why: ruling.why }, ...over });
}

describe.each(KINDS)('allowed by $pattern (mailbox $account)', (rule) => {
  const program = (failed: boolean): readonly Finding[] => {
    const spf = { result: failed ? 'fail' : 'none', domain: 'shop.example' } as const;
    const parts = [{ type: 'application/pdf', name: 'bill.pdf.exe', size: 1, head: Buffer.from('x') }];
    return checkPrograms(sampleWith({ parts, authentication: { ...nobodyRequested, spf } }));
  };

  test('what only looks bad comes in', () => {
    expect(allowedBy(rule, [against(50), against(9, { refuse: true })], { author: REFUSE }).kind).toBe('inbox');
    expect(allowedBy(rule, clamavFindings('stream: Heuristics.Encrypted.PDF FOUND')).kind).toBe('inbox');
  });

  test('malware is refused, and marked as such where nothing refuses', () => {
    const findings = clamavFindings('stream: Win.Test.EICAR_HDB-1 FOUND');
    const decision = allowedBy(rule, findings);
    expect(decision).toMatchObject({ kind: 'refuse', because: findings[0]?.why });
    expect(decision.findings.at(-1)).toMatchObject({ rule: 'allow-list', score: 0 });
    expect(decision.score).toBeGreaterThanOrEqual(5);
    const trust = deriveTrust(UNAVAILABLE_AUTHENTICATION, decision, true);
    expect(trust).toMatchObject({ verdict: 'quarantined', flags: ['malware'] });
    expect(deriveKeywords(trust, { ...decision, kind: 'junk' })).toEqual(['$Junk']);
  });

  test('a program whose proof has failed is refused; any other counts what it counts for everybody', () => {
    expect(allowedBy(rule, program(true))).toMatchObject({ kind: 'refuse' });
    expect(program(false).some(({ flag }) => flag === 'executable-attachment')).toBe(true);
    expect(allowedBy(rule, program(false)).kind).toBe('inbox');
    expect(allowedBy(rule, [...program(false), ...program(false)]).kind).toBe('junk');
  });
});
