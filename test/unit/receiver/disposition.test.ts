import { describe, expect, test } from 'vitest';
import { UNAVAILABLE_AUTHENTICATION } from '../../../mail/auth/authenticate.ts';
import type { FilterResult } from '../../../mail/filter/mail-filter.ts';
import { MAIL_POLICY } from '../../../mail/policy/mail-policy.ts';
import type { EnvelopeRecipient, RecipientRoute } from '../../../mail/receiver/needs.ts';
import { decideDisposition, type DispositionInput, filingFor } from '../../../mail/receiver/disposition.ts';
import { toAddress } from '../../support/receive-message.ts';

const PASS = { kind: 'pass', why: '' } as const;
const FRAUD = { rule: 'fraud', score: 9, why: 'it is a fraud', refuse: true };

function to(route: RecipientRoute): EnvelopeRecipient {
  return { address: toAddress('anna@box.test'), route, dsn: {} };
}

const here = to({ kind: 'here', accounts: [1], address: toAddress('anna@box.test') });
const report = to({ kind: 'return', to: toAddress('writer@remote.example') });

function classification(findings: FilterResult['findings']): FilterResult {
  const account = { account: 1, policy: MAIL_POLICY, author: PASS, findings: [], known: false };
  return { authentication: UNAVAILABLE_AUTHENTICATION, author: PASS, findings, senders: [], accounts: [account] };
}

function input(verdict: FilterResult, recipients: EnvelopeRecipient[]): DispositionInput {
  return { verdict, recipients, authserv: 'mail.box.test', refuses: true };
}

describe('one reply for all recipients', () => {
  test('rejected if all recipients reject it', () => {
    expect(decideDisposition(input(classification([FRAUD]), [here]))).toMatchObject({
      refusal: { code: 550 },
      rejectsFor: [1],
    });
  });

  test.each([
    ['a DNS list that refuses has', { ...FRAUD, rule: 'address-list' }, []],
    ['names what a DNS list that refuses has', { ...FRAUD, rule: 'host-list', flag: 'blocklisted' }, []],
    ['brings malware', { ...FRAUD, flag: 'malware' }, []],
    ['is a fraud, and on a list that only counts', { ...FRAUD, flag: 'fraud' }, [1]],
  ])('who %s is refused, and what is kept of it: %j', (_, finding, kept) => {
    const counted = { rule: 'address-list', score: 2, why: 'it is listed', flag: 'blocklisted' };
    const decided = decideDisposition(input(classification([finding, counted]), [here]));
    expect(decided).toMatchObject({ refusal: { code: 550 }, rejectsFor: kept });
  });

  test('a bounce to its sender is not lost if a mailbox rejects it', () => {
    const both = input(classification([FRAUD]), [here, report]);
    const decided = decideDisposition(both);
    expect(decided.refusal).toBeUndefined();
    expect(filingFor(both, decided, 1).folder).toBe('junk');
  });

  test('a report alone is never rejected', () => {
    const alone = input({ ...classification([FRAUD]), accounts: [] }, [report]);
    expect(decideDisposition(alone).refusal).toBeUndefined();
  });
});
