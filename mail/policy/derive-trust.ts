import type { Authentication } from '../auth/authentication.ts';
import type { AuthOutcome, Trust } from './trust.ts';
import type { FilterDecision } from './verdict.ts';

/** Flags of dangerous messages, as opposed to unwanted ones. */
const DANGEROUS = [
  'phishing',
  'malware',
  'executable-attachment',
  'macro-attachment',
  'look-alike-domain',
  'spoofed-sender',
];
const MAX_FLAGS = 20;

/** Derives the trust object of a message from outside. `known`: the account knows its author, who is authenticated. */
export function deriveTrust(authentication: Authentication, { kind, findings }: FilterDecision, known: boolean): Trust {
  const flags = [...new Set(findings.flatMap(({ flag }) => (flag === undefined ? [] : [flag])))].slice(0, MAX_FLAGS);
  const { spf, dkim, dmarc } = authentication;
  const outcomes = dkim.map(({ result }) => toAuthOutcome(result));
  const dangerous = flags.some((flag) => DANGEROUS.includes(flag));
  return {
    auth: {
      spf: toAuthOutcome(spf.result),
      dkim: outcomes.includes('pass') ? 'pass' : (outcomes[0] ?? 'none'),
      dmarc: toAuthOutcome(dmarc.result),
    },
    alignedFrom: dmarc.aligned,
    knownSender: known,
    verdict: kind === 'refuse' ? 'quarantined' : kind === 'junk' || dangerous ? 'suspicious' : 'clear',
    flags,
    externalSender: true,
  };
}

/** Derives IMAP keywords for mail clients; `$NotJunk` only by an allow rule of the account. */
export function deriveKeywords({ verdict, flags }: Trust, { kind, findings }: FilterDecision): string[] {
  // An unauthenticated sender that matches an allow rule is reported under the same rule name with score 0.
  const allowed = findings.some(({ rule, score }) => rule === 'allow-list' && score < 0);
  const keywords = kind === 'inbox' ? (allowed ? ['$NotJunk'] : []) : ['$Junk'];
  if (!allowed && verdict !== 'clear' && flags.some((flag) => flag === 'phishing' || flag === 'look-alike-domain')) {
    keywords.push('$Phishing');
  }
  return keywords;
}

/** Maps a result to pass, fail or none; DNS errors and unknown results are none. */
function toAuthOutcome(result: string): AuthOutcome {
  if (result === 'pass') return 'pass';
  return ['fail', 'softfail', 'policy', 'permerror'].includes(result) ? 'fail' : 'none';
}
