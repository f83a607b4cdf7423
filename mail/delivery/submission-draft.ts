import type { Meter } from '../log.ts';
import type { Address } from '../message/address.ts';
import type { Field } from '../message/header.ts';
import type { MessageFacts, MessageIndex } from '../message/index-types.ts';
import type { Allowance } from '../store/limit/allowance.ts';
import type { Budget } from '../store/limit/budget.ts';
import type { IdempotencyGuard } from '../store/queue/idempotency.ts';
import type { MailStore } from '../store/store.ts';
import type { AgentSending } from '../agents/gate/types.ts';
import type { NoticeReplies } from './notice-replies.ts';
import type { Destinations } from './destinations.ts';
import type { Identity } from './identity.ts';
import type { MessageOctets } from './octet-reader.ts';
import type { PolicyInput, SendingPolicy } from '../agents/gate/sending-policy.ts';

/** Tenant and sending limits of a message. */
export interface SendLimits {
  tenant: number;
  /** Null: no such limit. */
  allowance: Allowance | null;
  budgets?: readonly Budget[];
}

/** Dependencies of submission, the same for all messages of a protocol server. */
export interface SubmissionContext {
  readonly store: MailStore;
  /** Own name of the box. */
  readonly hostname: string;
  /** ms UTC. */
  readonly clock: () => number;
  /** Key of the box for rewritten senders and markers of forwarded mail. */
  readonly forwardKey: Buffer;
  /** Reason why remote mail is held; null: none. */
  readonly hold: string | null;
  /** Holds or rejects outgoing mail. */
  readonly policy: SendingPolicy;
  /** Processes replies to notices of the box; left out: none. */
  readonly noticeReplies?: NoticeReplies;
  readonly meter: Meter;
  /** New trace id, for a report. */
  readonly traceId: () => string;
  /** Limits of an account. */
  senderOf(account: number): Promise<SendLimits>;
  /** Wakes the relay: something was queued. */
  queued(): void;
}

/** Submitter of a message. */
export interface Submitter extends Pick<PolicyInput, 'account' | 'credential' | 'login'> {
  /** The agent that sends, as the copy in Sent names it. */
  agent?: string | null;
  /** Authors that may be named; left out: the addresses of the account. */
  identity?: Identity;
  /** Left out: those of the account. */
  limits?: SendLimits;
}

/** One recipient with the DSN parameters of RFC 3461 4. */
export interface DraftRecipient {
  address: Address;
  /** '' for none. */
  notify?: string;
  orcpt?: string;
}

/** A message as it would leave. */
export interface DraftMessage {
  /** Facts alone where nobody on this box receives it. */
  index: MessageFacts | MessageIndex;
  octets: MessageOctets;
  /** Hex digest of the octets; left out: computed when an approval is bound to it. */
  sha256?: string;
  /** Parsed header; left out: read when it is needed. */
  fields?: readonly Field[];
  /** All authors that the header names: From, Sender and their Resent forms. */
  authors: readonly Address[];
  /** Domains of From, whose keys sign it. */
  signAs: readonly string[];
  eightBit: boolean;
  /** SMTPUTF8 was requested, or the header needs it. Addresses are checked later. */
  smtputf8: boolean;
}

/** A request to send one message. Every protocol server translates its own request into it. */
export interface SubmissionDraft {
  trace: string;
  protocol: 'smtp' | 'jmap' | 'api' | 'automatic';
  submitter: Submitter;
  /** Envelope sender; undefined is the null reverse-path. */
  sender: Address | undefined;
  recipients: readonly DraftRecipient[];
  /** Resolved destinations (SMTP routes at RCPT TO); left out: resolved here. */
  destinations?: Destinations;
  message: DraftMessage;
  /** Related messages (reply, forward, draft), if the protocol knows them. Agent mail only. */
  relatedMessages?: Partial<Pick<AgentSending, 'answers' | 'forwards' | 'draft' | 'limits'>>;
  ret: string;
  /** '' for none. */
  envid: string;
  /** RFC 8689. */
  requireTls?: boolean;
  /** ms UTC; null sends it now. */
  sendAt: number | null;
  /** Rejects recipients on the suppression list. People may write to them all the same. */
  skipsSuppressed: boolean;
  /** It may be a reply to a notice of the box: a person's mail program sent it. */
  mayReplyToNotices?: boolean;
  /** Duplicate check; null: none. */
  guard?: IdempotencyGuard | null;
  /** Account whose Sent mailbox gets a copy. */
  copyFor?: number | null;
}
