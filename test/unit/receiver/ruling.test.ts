import { describe, expect, test } from 'vitest';
import { UNKNOWN } from '../../../mail/auth/authenticate.ts';
import type { Judgement } from '../../../mail/judge/judging.ts';
import { MAIL_POLICY } from '../../../mail/policy/mail-policy.ts';
import type { Recipient, Route } from '../../../mail/receiver/needs.ts';
import { ruling } from '../../../mail/receiver/ruling.ts';
import { theAddress } from '../../support/arrivals.ts';

const PASS = { kind: 'pass', why: '' } as const;
const FRAUD = { rule: 'fraud', score: 9, why: 'it is a fraud', refuse: true };
const HOW = { authserv: 'mail.box.test', refuses: true };

function to(route: Route): Recipient {
  return { address: theAddress('anna@box.test'), route, dsn: {} };
}

const here = to({ kind: 'here', accounts: [1], address: theAddress('anna@box.test') });
const report = to({ kind: 'return', to: theAddress('writer@remote.example') });

function judgement(findings: Judgement['findings']): Judgement {
  const account = { account: 1, policy: MAIL_POLICY, author: PASS, findings: [], known: false };
  return { authentication: UNKNOWN, author: PASS, findings, senders: [], accounts: [account] };
}

describe('one answer for all recipients', () => {
  test('refused where all of them refuse it', () => {
    expect(ruling(judgement([FRAUD]), [here], HOW)).toMatchObject({ refusal: { code: 550 }, kept: [1] });
  });

  test.each([
    ['a DNS list that refuses has', { ...FRAUD, rule: 'address-list' }, []],
    ['names what a DNS list that refuses has', { ...FRAUD, rule: 'host-list', flag: 'blocklisted' }, []],
    ['brings malware', { ...FRAUD, flag: 'malware' }, []],
    ['is a fraud, and on a list that only counts', { ...FRAUD, flag: 'fraud' }, [1]],
  ])('who %s is refused, and what is kept of it: %j', (_, finding, kept) => {
    const counted = { rule: 'address-list', score: 2, why: 'it is listed', flag: 'blocklisted' };
    expect(ruling(judgement([finding, counted]), [here], HOW)).toMatchObject({ refusal: { code: 550 }, kept });
  });

  test('a report that goes back is not lost because a mailbox refuses it', () => {
    const made = ruling(judgement([FRAUD]), [here, report], HOW);
    expect(made.refusal).toBeUndefined();
    expect(made.filing(1).folder).toBe('junk');
  });

  test('a report alone is never refused', () => {
    expect(ruling({ ...judgement([FRAUD]), accounts: [] }, [report], HOW).refusal).toBeUndefined();
  });
});
