import type { Authentication } from '../auth/authentication.ts';
import type { DmarcDecision } from '../auth/dmarc-decision.ts';
import type { Finding } from '../policy/finding.ts';
import type { MailPolicy } from '../policy/mail-policy.ts';
import type { VerdictInput } from '../policy/verdict.ts';

/** A message from outside that is to be checked. Plain data, since it crosses threads. */
export interface InboundMail {
  /** Trace id. */
  trace: string;
  /** The octets, or the path of the file that holds them. */
  octets: Uint8Array | string;
  /** Number of octets. */
  size: number;
  /** Start of the body, and the packed part table, both from the message index. */
  headerLength: number;
  parts: string;
  peer: { ip: string; helo: string };
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  /** Recipients as the peer named them. */
  recipients: readonly string[];
  /** Local accounts that receive it, each once. */
  accounts: readonly number[];
  /** True: run all checks. False: authenticate the author only. */
  checks: boolean;
  /** ms UTC. */
  now: number;
}

/** Result of the filter for one message. */
export interface FilterResult {
  authentication: Authentication;
  /** DMARC decision for recipients without a policy of their own. */
  author: DmarcDecision;
  findings: readonly Finding[];
  /** Reputation keys of the sender, policy/sender-keys.ts. */
  senders: readonly string[];
  /** In the order of {@link InboundMail.accounts}; deleted accounts are missing. */
  accounts: readonly AccountFilterResult[];
}

/** Part of the result that is specific to one account. */
export interface AccountFilterResult {
  account: number;
  policy: MailPolicy;
  author: DmarcDecision;
  findings: readonly Finding[];
  rule?: NonNullable<VerdictInput['rule']>;
  /** The account knows the author, and the author is authenticated. */
  known: boolean;
}

/** Checks messages. Rejects when it cannot at the moment: the message is deferred. */
export interface MailFilter {
  filter(mail: InboundMail): Promise<FilterResult>;
}

/** The filter is not available; the request was not processed. */
export class FilterUnavailable extends Error {
  override readonly name = 'FilterUnavailable';
}
