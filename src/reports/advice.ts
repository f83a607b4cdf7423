import type { DaySum, SourceSum, TlsResultSum } from './queries.ts';

/** DMARC policies from the weakest to the strictest. */
export const DMARC_POLICIES = ['none', 'quarantine', 'reject'] as const;
export type DmarcPolicyName = (typeof DMARC_POLICIES)[number];

/** A source with fewer failing messages is not mentioned: most are single forgeries and forwards. */
const WORTH_TELLING = 10;
const MAX_SENTENCES = 10;
/** Share of messages that pass, from which a stricter policy is advised. */
const SAFE_SHARE = 0.98;
/** Days with signed reports before a stricter policy is advised. */
const DMARC_DAYS = 14;

const counted = (n: number, one: string): string => `${n.toLocaleString('en-US')} ${one}${n === 1 ? '' : 's'}`;

/** Says what is wrong with mail of one source, and what to do; undefined if nothing is. Holds no text of a stranger. */
export function sourceSentence({ source, messages, passed, spf, dkim, forwarded }: SourceSum): string | undefined {
  const failed = messages - passed;
  if (failed < WORTH_TELLING) return undefined;
  const from = source === '' ? 'Mail from many small sources' : `Mail from ${source}`;
  const what = `${from} (${counted(failed, 'message')})`;
  if (forwarded >= failed / 2) {
    return `${what} fails because it was forwarded or sent through a mailing list: nothing to do, DKIM signatures survive most forwards.`;
  }
  if (spf === 0 && dkim === 0) {
    return `${what} fails SPF and DKIM: if this is your newsletter or another service of yours, add its include to SPF and publish its DKIM keys. If you do not know it, somebody forges your address.`;
  }
  return dkim < spf
    ? `${what} fails, as part of it has no valid DKIM signature: have the service sign with your domain.`
    : `${what} fails, as SPF does not name this address and signatures break on the way: add it to SPF.`;
}

/** Sentences about the sources with the most failing messages. */
export function sourceSentences(sources: readonly SourceSum[]): string[] {
  return sources
    .toSorted((a, b) => b.messages - b.passed - (a.messages - a.passed))
    .flatMap((one) => sourceSentence(one) ?? [])
    .slice(0, MAX_SENTENCES);
}

/** Advice on a policy. `next`: the policy to set now; null: stay. */
export interface PolicyAdvice<Policy> {
  next: Policy | null;
  sentence: string;
}

/** Advises on the DMARC policy by signed reports alone: unsigned ones may be forged. RFC 9989 allows quarantine as a step. */
export function adviseDmarc(current: DmarcPolicyName, days: readonly DaySum[]): PolicyAdvice<DmarcPolicyName> {
  const signed = days.filter((one) => one.signed > 0);
  const total = signed.reduce((sum, one) => sum + one.signed, 0);
  const passed = signed.reduce((sum, one) => sum + one.signedPassed, 0);
  if (current === 'reject') return { next: null, sentence: 'The policy is reject: forged mail is refused.' };
  const next = current === 'none' ? 'quarantine' : 'reject';
  if (signed.length < DMARC_DAYS) {
    const have = counted(signed.length, 'day');
    return {
      next: null,
      sentence: `Keep ${current} for now: there are reports of ${have}, and ${DMARC_DAYS} are needed.`,
    };
  }
  const percent = `${((100 * passed) / total).toFixed(1)} %`;
  if (passed / total < SAFE_SHARE) {
    return {
      next: null,
      sentence: `Keep ${current} for now: ${percent} of ${counted(total, 'message')} pass. Mend the sources of yours below; if all that fail are forgeries, set ${next}.`,
    };
  }
  const effect = next === 'quarantine' ? 'then forged mail goes to Junk' : 'then forged mail is refused';
  return { next, sentence: `${percent} of ${counted(total, 'message')} pass: set the policy to ${next}, ${effect}.` };
}

/** Policy of MTA-STS: null without one. */
export type StsModeName = 'none' | 'testing' | 'enforce';

/** Days in testing before a policy is enforced, days with signed reports in them, and their sessions. */
export const STS_TESTING_DAYS = 14;
const STS_REPORT_DAYS = 5;
const STS_SESSIONS = 10;

/** Advises on the MTA-STS mode by the TLS results of the last {@link STS_TESTING_DAYS}. `testingDays`: days in testing so far. */
export function adviseSts(
  mode: StsModeName | null,
  testingDays: number,
  days: readonly DaySum[],
): PolicyAdvice<StsModeName> {
  if (mode === null || mode === 'none') {
    return {
      next: 'testing',
      sentence: 'Begin testing MTA-STS: senders then report failed encryption, and deliver anyway.',
    };
  }
  const signed = days.filter((one) => one.signed > 0);
  const sessions = signed.reduce((sum, one) => sum + one.signed, 0);
  const failed = sessions - signed.reduce((sum, one) => sum + one.signedPassed, 0);
  if (mode === 'enforce') {
    const sentence =
      failed === 0
        ? 'MTA-STS is enforced.'
        : `MTA-STS is enforced, and ${counted(failed, 'session')} failed: senders defer that mail. Mend the causes below, or change to testing.`;
    return { next: failed === 0 ? null : 'testing', sentence };
  }
  if (failed > 0) {
    return {
      next: null,
      sentence: `Stay in testing: ${counted(failed, 'session')} of ${sessions} failed. Mend the causes below.`,
    };
  }
  if (testingDays < STS_TESTING_DAYS || signed.length < STS_REPORT_DAYS || sessions < STS_SESSIONS) {
    return {
      next: null,
      sentence: `Stay in testing: no failures so far, ${counted(sessions, 'session')} on ${counted(signed.length, 'day')}. ${STS_TESTING_DAYS} days in testing, ${STS_REPORT_DAYS} days with reports and ${STS_SESSIONS} sessions are needed.`,
    };
  }
  return { next: 'enforce', sentence: `No failures in ${counted(sessions, 'session')}: enforce the policy.` };
}

/** Causes of failed sessions and what to do, by the result types of RFC 8460 4.3. */
const CAUSES: Readonly<Record<string, string>> = {
  'starttls-not-supported': 'the server did not offer STARTTLS: check that no firewall removes it',
  'certificate-host-mismatch': 'the certificate does not have the name of the MX: order one for it',
  'certificate-expired': 'the certificate had expired: renew it',
  'certificate-not-trusted': 'the certificate is not of a public authority: order one by ACME',
  'validation-failure': 'the certificate did not pass validation',
  'tlsa-invalid': 'a TLSA record does not match the certificate: correct or delete it',
  'dnssec-invalid': 'the DNSSEC signatures are broken: tell your DNS provider',
  'dane-required': 'the sender requires DANE, and there is no valid TLSA record',
  'sts-policy-fetch-error':
    'the policy could not be fetched: check that mta-sts.DOMAIN points here and has a certificate',
  'sts-policy-invalid': 'the policy is not valid: check who answers at mta-sts.DOMAIN',
  'sts-webpki-invalid': 'the certificate of mta-sts.DOMAIN is not valid: order one',
};

/** Sentences about failed sessions, by cause. */
export function tlsSentences(sums: readonly TlsResultSum[]): string[] {
  const failures = Object.entries(Object.groupBy(sums, ({ result }) => result)).filter(([name]) => name !== 'success');
  return failures.map(([result, all = []]) => {
    const sessions = all.reduce((sum, one) => sum + one.sessions, 0);
    return `${counted(sessions, 'session')} failed: ${CAUSES[result] ?? 'for another reason'}.`;
  });
}
