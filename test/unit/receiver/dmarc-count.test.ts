import { describe, expect, test } from 'vitest';
import type { Authentication, Dmarc } from '../../../mail/auth/authentication.ts';
import type { DmarcDecision } from '../../../mail/auth/dmarc-decision.ts';
import { parseAddress } from '../../../mail/message/address.ts';
import { countDmarcResult } from '../../../mail/receiver/dmarc-count.ts';
import type { DispositionInput } from '../../../mail/receiver/disposition.ts';
import { ACCEPTED, type ReceivedMessage, rejected } from '../../../mail/receiver/received-message.ts';
import { smtpRefusal } from '../../../mail/receiver/refusal.ts';
import type { DmarcResult } from '../../../mail/store/filter/dmarc-result.ts';

const FAILED: Dmarc = {
  result: 'fail',
  policy: 'reject',
  domain: 'news.shop.example',
  organization: 'shop.example',
  aligned: false,
  reporting: { domain: 'shop.example', spf: false, dkim: false },
};
const PASSED: Dmarc = {
  ...FAILED,
  result: 'pass',
  aligned: true,
  reporting: { domain: 'shop.example', spf: true, dkim: false },
};
const REFUSED = rejected(smtpRefusal(550, '5.7.1', 'no'));

interface Case {
  dmarc?: Dmarc;
  kind?: DmarcDecision['kind'];
  /** Decisions of single accounts. */
  accounts?: DmarcDecision['kind'][];
  subject?: string;
  sender?: string;
  result?: typeof ACCEPTED;
  authentication?: Partial<Authentication>;
}

/** Counts one message. Returns what was counted. */
function counted(one: Case): DmarcResult | undefined {
  const { dmarc = FAILED, kind = 'refuse', accounts = [kind], subject = 'hello', sender = 'b@bulk.example' } = one;
  const results: DmarcResult[] = [];
  const authentication: Authentication = {
    spf: { result: 'pass', domain: 'bulk.example' },
    dkim: [{ result: 'fail', domain: 'shop.example', selector: 's1' }],
    arc: 'none',
    iprev: { result: 'none', name: '', ip: '' },
    dmarc,
    ...one.authentication,
  };
  const verdict = {
    authentication,
    author: { kind, why: '' },
    accounts: accounts.map((each) => ({ author: { kind: each, why: '' } })),
  };
  const message = {
    envelope: { sender: parseAddress(sender), peer: { ip: '203.0.113.9' } },
    index: { subject },
  };
  countDmarcResult(
    { dmarcResults: { count: (result) => results.push(result) } },
    message as unknown as ReceivedMessage,
    { verdict } as unknown as DispositionInput,
    one.result ?? ACCEPTED,
  );
  return results[0];
}

describe('the DMARC result of a message', () => {
  test('has what the aggregate report needs', () => {
    expect(counted({ result: REFUSED })).toEqual({
      domain: 'shop.example',
      source: '203.0.113.9',
      headerFrom: 'news.shop.example',
      envelopeFrom: 'bulk.example',
      spf: false,
      dkim: false,
      disposition: 'reject',
      reason: '',
      auth: {
        spf: { domain: 'bulk.example', result: 'pass' },
        dkim: [{ domain: 'shop.example', selector: 's1', result: 'fail' }],
      },
    });
  });

  test.each<[string, Case, string, string]>([
    ['passes', { dmarc: PASSED, kind: 'pass' }, 'pass', ''],
    ['passes and is refused for another reason', { dmarc: PASSED, kind: 'pass', result: REFUSED }, 'pass', ''],
    ['is refused for its policy', { result: REFUSED }, 'reject', ''],
    ['goes to Junk although its policy asks to refuse it', { kind: 'junk' }, 'quarantine', 'local_policy'],
    ['would be refused by one of two recipients', { accounts: ['refuse', 'mark'] }, 'quarantine', 'local_policy'],
    ['is only marked', { kind: 'mark' }, 'none', 'local_policy'],
    ['was sealed by a trusted forwarder', { kind: 'pass' }, 'none', 'trusted_forwarder'],
    ['could not be checked', { dmarc: { ...FAILED, result: 'temperror' }, kind: 'mark' }, 'none', 'other'],
    ['fails a policy that asks for nothing', { dmarc: { ...FAILED, policy: 'none' }, kind: 'mark' }, 'none', ''],
  ])('that %s', (_, one, disposition, reason) => {
    expect(counted(one)).toMatchObject({ disposition, reason });
  });

  test.each<[string, Case]>([
    ['whose domain asks for no reports', { dmarc: { ...FAILED, reporting: undefined } as unknown as Dmarc }],
    ['that is deferred, as it comes again', { result: rejected(smtpRefusal(451, '4.7.0', 'later')) }],
    ['that is an authenticated report', { dmarc: PASSED, subject: 'Report Domain: box.test Submitter: shop.example' }],
  ])('%s is not counted', (_, one) => {
    expect(counted(one)).toBeUndefined();
  });

  test('a forgery with the subject of a report is counted', () => {
    expect(counted({ subject: 'Report Domain: box.test', result: REFUSED })).toMatchObject({ disposition: 'reject' });
  });

  test('names no sender for the null reverse-path, and nothing that XML cannot hold', () => {
    const dkim = [{ result: 'permerror' as const, domain: 'a\u0000<b', selector: '&' }];
    const spf = { result: 'pass' as const, domain: 'mx.bulk.example', identity: 'helo' as const };
    expect(counted({ sender: '', authentication: { dkim, spf } })).toMatchObject({
      envelopeFrom: '',
      auth: { dkim: [{ domain: 'a__b', selector: '_', result: 'permerror' }] },
    });
    expect(counted({ sender: '', authentication: { spf } })?.auth).not.toHaveProperty('spf');
  });

  test('has five signatures, those that pass first', () => {
    const dkim = Array.from({ length: 8 }, (_, n) => ({
      result: n === 7 ? ('pass' as const) : ('fail' as const),
      domain: `d${n}.example`,
      selector: 's',
    }));
    expect(counted({ authentication: { dkim } })?.auth.dkim.map(({ domain }) => domain)).toEqual([
      'd7.example',
      'd0.example',
      'd1.example',
      'd2.example',
      'd3.example',
    ]);
  });
});
