import { type Authentication, resultsText } from '../auth/authentication.ts';
import { deriveKeywords, deriveTrust } from '../policy/derive-trust.ts';
import { JUNK_THRESHOLD } from '../policy/finding.ts';
import type { Trust, FilterVerdict } from '../policy/trust.ts';
import { decideVerdict, type FilterDecision } from '../policy/verdict.ts';

/** Filing of a message from outside in one account. */
export interface Filing {
  folder: FilterVerdict['outcome'];
  keywords: readonly string[];
  trust: Trust;
  verdict: FilterVerdict;
  /** Reputation keys of the sender, policy/sender-keys.ts. */
  senders: readonly string[];
  /** Header lines with CRLF for the top of this account's copy. */
  trace: string;
}

/** Findings that are listed in the header; the verdict has all. */
const MAX_NAMED = 12;

/** Input of a filing besides the decision. */
export interface FilingInput {
  /** Host name of the box. */
  authserv: string;
  authentication: Authentication;
  /** The account knows the author, who is authenticated. */
  known: boolean;
  senders: readonly string[];
}

/** Creates the filing for a decision. */
export function createFiling(
  decision: FilterDecision,
  { authserv, authentication, known, senders }: FilingInput,
): Filing {
  const trust = deriveTrust(authentication, decision, known);
  const folder = FOLDERS[decision.kind];
  const { score, findings } = decision;
  return {
    folder,
    keywords: deriveKeywords(trust, decision),
    trust,
    verdict: { outcome: folder, score, findings },
    senders,
    trace: `Authentication-Results: ${resultsText(authserv, authentication)}\r\n${verdictField(decision)}`,
  };
}

/** Creates the filing for an account that blocks a sender logged in to this box. `why`: reason, as in a finding. */
export function createBlockedFiling(why: string): Filing {
  const { score, findings } = decideVerdict({
    author: { kind: 'pass', why: '' },
    findings: [],
    rule: { kind: 'block', why },
  });
  const auth = { spf: 'none', dkim: 'none', dmarc: 'none' } as const;
  const trust = { auth, alignedFrom: false, knownSender: false, flags: [], externalSender: false };
  return {
    folder: 'junk',
    keywords: ['$Junk'],
    trust: { ...trust, verdict: 'suspicious' },
    verdict: { outcome: 'junk', score, findings },
    senders: [],
    trace: verdictField({ kind: 'junk', score, findings }),
  };
}

const FOLDERS = { inbox: 'inbox', junk: 'junk', refuse: 'rejects', later: 'rejects' } as const;

/** Header field with the verdict. Rule names and scores are our own, so it contains no text of the message. */
function verdictField({ kind, score, findings }: FilterDecision): string {
  const named = findings.slice(0, MAX_NAMED).map(({ rule, score: one }) => `\r\n\t${rule} ${one}`);
  return `X-Mailstead-Verdict: ${kind === 'refuse' ? 'refused' : kind} (${score} of ${JUNK_THRESHOLD})${named.length > 0 ? ';' : ''}${named.join(',')}\r\n`;
}
