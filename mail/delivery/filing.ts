import { type Authentication, resultsText } from '../auth/authentication.ts';
import { keywordsOf, trustOf } from '../policy/trust-of.ts';
import type { Trust, Verdict } from '../policy/trust.ts';
import { decide, type Decision } from '../policy/verdict.ts';

/** What was decided about a message from outside for one account. */
export interface Filing {
  folder: Verdict['outcome'];
  keywords: readonly string[];
  trust: Trust;
  verdict: Verdict;
  /** Keys of who sent it, policy/sender-keys.ts. */
  senders: readonly string[];
  /** Its header lines, complete with CRLF, for the top of what this account gets. */
  trace: string;
}

/** Findings named in the header; the whole list is in the verdict. */
const MOST_NAMED = 12;

/** What a filing is made with beside the decision. */
export interface About {
  /** Our own name. */
  authserv: string;
  authentication: Authentication;
  /** The account knows the author, who has proved to be it. */
  known: boolean;
  senders: readonly string[];
}

/** How a decision is carried out. */
export function filingOf(decision: Decision, { authserv, authentication, known, senders }: About): Filing {
  const trust = trustOf(authentication, decision, known);
  const folder = FOLDERS[decision.kind];
  const { score, findings } = decision;
  return {
    folder,
    keywords: keywordsOf(trust, decision),
    trust,
    verdict: { outcome: folder, score, findings },
    senders,
    trace: `Authentication-Results: ${resultsText(authserv, authentication)}\r\n${verdictField(decision)}`,
  };
}

/** For who blocks a sender that is logged in to this box: who that is nobody had to find out. `why` as a finding has it. */
export function blockedFiling(why: string): Filing {
  const { score, findings } = decide({ author: { kind: 'pass', why: '' }, findings: [], rule: { kind: 'block', why } });
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

/** Rule names and scores are ours, so nothing of the message is in it. */
function verdictField({ kind, score, findings }: Decision): string {
  const named = findings.slice(0, MOST_NAMED).map(({ rule, score: one }) => `\r\n\t${rule} ${one}`);
  return `X-Mailstead-Verdict: ${kind === 'refuse' ? 'refused' : kind} (${score} of 5)${named.length > 0 ? ';' : ''}${named.join(',')}\r\n`;
}
