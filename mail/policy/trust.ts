import type { Finding } from './finding.ts';

/** What this box itself found out about one message in one account. Nothing of it is ever read from the message. */
export interface Trust {
  auth: { spf: Passed; dkim: Passed; dmarc: Passed };
  /** The one author in From is who SPF or DKIM vouches for. */
  alignedFrom: boolean;
  /** The account had mail of this author before, and kept it, or wrote to it. */
  knownSender: boolean;
  verdict: 'clear' | 'suspicious' | 'quarantined';
  flags: readonly string[];
  /** Not written by a mailbox of this box that was logged in. */
  externalSender: boolean;
}

export type Passed = 'pass' | 'fail' | 'none';

/** How the verdict on a message came about, for people. */
export interface Verdict {
  /** Where it went. */
  outcome: 'inbox' | 'junk' | 'rejects';
  score: number;
  findings: readonly Finding[];
}
