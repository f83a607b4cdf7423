import type { Finding } from './finding.ts';

/** Trust object of one message in one account, computed by this box; nothing of it is copied from the message. */
export interface Trust {
  auth: { spf: AuthOutcome; dkim: AuthOutcome; dmarc: AuthOutcome };
  /** The single From address is aligned with SPF or DKIM. */
  alignedFrom: boolean;
  /** The account received and kept mail of this author before, or wrote to it. */
  knownSender: boolean;
  verdict: 'clear' | 'suspicious' | 'quarantined';
  flags: readonly string[];
  /** Not submitted by a logged-in mailbox of this box. */
  externalSender: boolean;
}

export type AuthOutcome = 'pass' | 'fail' | 'none';

/** Verdict on a message with its findings, for people. */
export interface FilterVerdict {
  /** Mailbox where it was filed. */
  outcome: 'inbox' | 'junk' | 'rejects';
  score: number;
  findings: readonly Finding[];
}
