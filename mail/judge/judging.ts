import type { Authentication } from '../auth/authentication.ts';
import type { DmarcDecision } from '../auth/dmarc-decision.ts';
import type { Finding } from '../policy/finding.ts';
import type { MailPolicy } from '../policy/mail-policy.ts';
import type { Case } from '../policy/verdict.ts';

/** A message from outside that is to be judged. Crosses threads: plain data. */
export interface Arriving {
  /** Under which it is logged. */
  trace: string;
  /** The octets, or the path of the file that has them. */
  octets: Uint8Array | string;
  /** How many there are. */
  size: number;
  /** Of its index: where its body begins, and its part table, packed. */
  headerLength: number;
  parts: string;
  peer: { ip: string; helo: string };
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  /** As the peer named them. */
  recipients: readonly string[];
  /** Who is to get it here, each account once. */
  accounts: readonly number[];
  /** Also what speaks for and against it; else only who wrote it. */
  checks: boolean;
  /** ms UTC. */
  now: number;
}

/** What was found out about a message. */
export interface Judgement {
  authentication: Authentication;
  /** For who has no say in it. */
  author: DmarcDecision;
  findings: readonly Finding[];
  /** Keys of who sent it, policy/sender-keys.ts. */
  senders: readonly string[];
  /** In the order in which they were asked about; accounts that are gone are missing. */
  accounts: readonly AccountJudgement[];
}

/** What is different for one account. */
export interface AccountJudgement {
  account: number;
  policy: MailPolicy;
  author: DmarcDecision;
  findings: readonly Finding[];
  rule?: NonNullable<Case['rule']>;
  /** The account knows the author, who has proved to be it. */
  known: boolean;
}

/** Finds out about messages. Rejects when it cannot say anything at the moment: the message is to come again. */
export interface Judge {
  judge(mail: Arriving): Promise<Judgement>;
}

/** Nobody judges at this moment; what was asked has not been looked at. */
export class JudgeAway extends Error {
  override readonly name = 'JudgeAway';
}
