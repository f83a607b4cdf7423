import type { LifetimeLimit } from './life-limits.ts';

/** Modes of an agent's token; its owner changes them. */
export const AGENT_MODES = ['normal', 'draft_only', 'reply_only', 'read_only', 'frozen'] as const;
export type AgentMode = (typeof AGENT_MODES)[number];

/** Owners' policy for agents of a mailbox or an organization. Entries of the lists are addresses or domains. */
export interface AgentPolicy {
  /** Allowed recipients: anybody, only authors of the answered thread, only entries of `allow`, nobody. */
  readonly sends: 'anybody' | 'replies' | 'allowed' | 'nobody';
  /** Mail to these is never held after reading. */
  readonly allow: readonly string[];
  readonly block: readonly string[];
  /** Mail to new recipients is held after an agent has read mail from outsiders. */
  readonly holdAfterReading: boolean;
  /** Forwarders, webhooks, sender rules and tokens that an agent creates await approval. */
  readonly rulesWait: boolean;
  /** Limits; null: no limit. */
  readonly budgets: AgentBudgets;
}

export interface AgentBudgets {
  readonly messagesPerHour: number | null;
  readonly messagesPerDay: number | null;
  /** Recipients that the mailbox has never written to. */
  readonly newRecipientsPerHour: number | null;
  readonly newRecipientsPerDay: number | null;
  readonly newRecipientsPerWeek: number | null;
  readonly recipientsPerMessage: number | null;
  readonly bytesPerDay: number | null;
}

/** Policy where none was chosen. */
export const DEFAULT_POLICY: AgentPolicy = {
  sends: 'anybody',
  allow: [],
  block: [],
  holdAfterReading: true,
  rulesWait: false,
  budgets: {
    messagesPerHour: null,
    messagesPerDay: null,
    newRecipientsPerHour: null,
    newRecipientsPerDay: null,
    newRecipientsPerWeek: null,
    recipientsPerMessage: null,
    bytesPerDay: null,
  },
};

/** Limits of a token that another token created for one purpose. */
export interface NarrowLimits {
  /** Row of the only thread that it may answer; null: any. */
  readonly thread: number | null;
  /** Keys of the participants of that thread at creation, the only allowed recipients; null: anybody. */
  readonly recipients: readonly string[] | null;
  /** Message limits of it and of its parent tokens; each message counts for all. */
  readonly sends: readonly LifetimeLimit[];
  /** Public ids of its parent tokens, the nearest first; its reads and sends count for them. */
  readonly from: readonly string[];
  /** Network of the client that created it, the only one it is valid from; missing before version 0.2. */
  readonly network?: string;
}

/** Reads the text of a document; undefined: it cannot be read. */
export type ReadDocument = (octets: Buffer) => Promise<string | undefined>;

/** Facts needed to find secrets of this box in mail. */
export interface EgressWatch {
  /** Prefix of its tokens. */
  readonly prefix: string;
  /** Key of the stored forms of shown secrets. */
  readonly key: Uint8Array;
  /** Text of a PDF; left out: only its own streams are scanned. */
  readonly readDocument?: (octets: Buffer, tenant: number) => Promise<string | undefined>;
  /** Freezes an agent over a canary, before its request is answered. */
  readonly tripped: (trip: SentTrip) => Promise<TripOutcome>;
}

/** Mail of an agent that contains honeytokens, or goes to addresses of canaries. */
export interface SentTrip {
  readonly canaries: readonly number[];
  readonly protocol: string;
  /** Addresses of all intended recipients. */
  readonly recipients: readonly string[];
}

/** `stopped`: frozen from now on. `known`: frozen before, and a person has unfrozen it. */
export type TripOutcome = 'stopped' | 'known';

/**
 * Why a part of a message could not be scanned for secrets: protected with a password, packed in an unknown format or
 * nested too deep, of unknown type, or longer than the limit for decoding.
 */
export type UnscannedReason = 'locked' | 'packed' | 'unknown' | 'long';

/** An agent that sends, as the protocol server knows it. The gate decides about its mail inside the commit. */
export interface AgentSending {
  /** Public id of a token, or of the mailbox whose password an agent uses. */
  readonly credential: string;
  /** Public id under which taint and usage are counted: that of the root token; left out: `credential`. */
  readonly reader?: string;
  /** Logged in with a password of the mailbox. A holder of it may hold any token of the organization as well. */
  readonly byPassword?: boolean;
  /** Verified addresses of owners and members of the organization, as compared. */
  readonly internal?: readonly string[];
  readonly mode: AgentMode;
  readonly policy: AgentPolicy;
  /** A policy was chosen for it. */
  readonly governed: boolean;
  /** Row of the answered message, as far as the protocol server knows; null: none. */
  readonly answers: number | null;
  /** Row of the draft that it sends; left out: none, or unknown. */
  readonly draft?: number | null;
  /** Forwards somebody else's message, or a part of one. */
  readonly forwards: boolean;
  /** Carries mail of the answered conversation, which is no news to its participants. */
  readonly carriesConversation?: boolean;
  /** Kinds of secrets that were found in the octets: `token`, `password`, `code`, `canary`... */
  readonly secrets: readonly string[];
  /** Why parts of its message could not be scanned; left out: all was scanned. */
  readonly unscanned?: readonly UnscannedReason[];
  /** Secrets were shown to agents of its organization, and are still searched for. */
  readonly sawSecrets?: boolean;
  /** Left out: the message was scanned already. */
  readonly watch?: EgressWatch;
  /** A person could approve held mail. */
  readonly attended: boolean;
  readonly limits: NarrowLimits | null;
}

/** Why a message of an agent is held or rejected: a code for programs, a sentence for people. */
export interface Reason {
  readonly code: string;
  /** One sentence without its full stop; contains no text of strangers but addresses. */
  readonly text: string;
  readonly recipients?: readonly string[];
}

/** A rejected message; `error` is the code that tools and routes return. */
export interface AgentStop {
  readonly kind: 'agent-stop';
  readonly error: 'secret_in_message' | 'budget_exceeded' | 'recipient_blocked' | 'action_not_allowed' | 'conflict';
  readonly reasons: readonly Reason[];
  /** The budget that it exceeds. */
  readonly budget?: SpentBudget;
  /** Time of the budget's reset, ms UTC; left out: waiting does not help. */
  readonly resetsAt?: number;
}

/** A budget by its name, with its limit and its usage. */
export interface SpentBudget {
  readonly name: string;
  readonly limit: number;
  readonly used: number;
}
