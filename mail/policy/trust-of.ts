import type { Authentication } from '../auth/authentication.ts';
import type { Passed, Trust } from './trust.ts';
import type { Decision } from './verdict.ts';

/** Flags under which a message is told to be dangerous, not only unwanted. */
const DANGEROUS = [
  'phishing',
  'malware',
  'executable-attachment',
  'macro-attachment',
  'look-alike-domain',
  'spoofed-sender',
];
const MOST_FLAGS = 20;

/** The trust object of a message from outside. `known`: the account knows its author, who has proved to be it. */
export function trustOf(authentication: Authentication, { kind, findings }: Decision, known: boolean): Trust {
  const flags = [...new Set(findings.flatMap(({ flag }) => (flag === undefined ? [] : [flag])))].slice(0, MOST_FLAGS);
  const { spf, dkim, dmarc } = authentication;
  const dangerous = flags.some((flag) => DANGEROUS.includes(flag));
  return {
    auth: {
      spf: passed(spf.result),
      dkim: best(dkim.map(({ result }) => passed(result))),
      dmarc: passed(dmarc.result),
    },
    alignedFrom: dmarc.aligned,
    knownSender: known,
    verdict: kind === 'refuse' ? 'quarantined' : kind === 'junk' || dangerous ? 'suspicious' : 'clear',
    flags,
    externalSender: true,
  };
}

/** IMAP keywords for who looks at the message with a mail client; `$NotJunk` is the account's own word, by its list. */
export function keywordsOf({ verdict, flags }: Trust, { kind, findings }: Decision): string[] {
  // Who only claims to be somebody whom it allows is told of with the same name, and counts nothing.
  const allowed = findings.some(({ rule, score }) => rule === 'allow-list' && score < 0);
  const keywords = kind === 'inbox' ? (allowed ? ['$NotJunk'] : []) : ['$Junk'];
  if (!allowed && verdict !== 'clear' && flags.some((flag) => flag === 'phishing' || flag === 'look-alike-domain')) {
    keywords.push('$Phishing');
  }
  return keywords;
}

/** What is not known, or could not be found out, proves nothing either way. */
function passed(result: string): Passed {
  if (result === 'pass') return 'pass';
  return ['fail', 'softfail', 'policy', 'permerror'].includes(result) ? 'fail' : 'none';
}

function best(results: readonly Passed[]): Passed {
  return results.includes('pass') ? 'pass' : (results[0] ?? 'none');
}
