import type { LifeLimit } from '../../store/narrow-use.ts';
import type { ReadDocument } from './secrets/files/file-scan.ts';

/** How a token may work at all; whoever owns it switches. */
export const AGENT_MODES = ['normal', 'draft_only', 'reply_only', 'read_only', 'frozen'] as const;
export type AgentMode = (typeof AGENT_MODES)[number];

/** What owners decide about agents of a mailbox or of an organization. Of every list each entry is an address or a domain. */
export interface AgentPolicy {
  /** Whom an agent may write to: anybody, only who wrote first (in that thread), only those of `allow`, nobody. */
  readonly sends: 'anybody' | 'replies' | 'allowed' | 'nobody';
  /** These are never held for what an agent has read. */
  readonly allow: readonly string[];
  readonly block: readonly string[];
  /** Mail to strangers waits for a person after an agent has read what outsiders wrote. */
  readonly holdAfterReading: boolean;
  /** Forwarders, webhooks, sender rules and tokens that an agent makes wait for a person. */
  readonly rulesWait: boolean;
  /** How many; null: no limit. */
  readonly budgets: AgentBudgets;
}

export interface AgentBudgets {
  readonly messagesPerHour: number | null;
  readonly messagesPerDay: number | null;
  /** Recipients that the mailbox never wrote to. */
  readonly newRecipientsPerHour: number | null;
  readonly newRecipientsPerDay: number | null;
  readonly newRecipientsPerWeek: number | null;
  readonly recipientsPerMessage: number | null;
  readonly bytesPerDay: number | null;
}

/** What holds where no policy was chosen: all that the interface promises to tokens, and E2. */
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

/** Of a token that another one made for one purpose. */
export interface NarrowLimits {
  /** Row of the thread that it answers, and nothing else; null: any. */
  readonly thread: number | null;
  /** Keys of those who took part in that thread when it was made, to whom alone it writes; null: to anybody. */
  readonly recipients: readonly string[] | null;
  /** Messages in its whole life, and in those of the tokens that it is from; each counts for all. */
  readonly sends: readonly LifeLimit[];
  /** Public ids of the tokens that it is from, the nearest first: what it reads and sends is theirs too. */
  readonly from: readonly string[];
}

/** What has to be known to find secrets of this box in mail. */
export interface EgressWatch {
  /** What its tokens begin with. */
  readonly prefix: string;
  /** Under which it remembers what it has shown. */
  readonly key: Uint8Array;
  /** The text of a PDF; left out: only its own streams are looked at. */
  readonly readDocument?: ReadDocument;
  /** Stops who would carry off a canary, before it is answered. */
  readonly tripped: (trip: SentTrip) => Promise<Tripped>;
}

/** Mail of an agent that has the honeytokens of canaries in it, or goes to their addresses. */
export interface SentTrip {
  readonly canaries: readonly number[];
  readonly door: string;
  /** Addresses of all who should have got it. */
  readonly recipients: readonly string[];
}

/** `stopped`: it is frozen from now on. `known`: it was before, and a person has let it work again. */
export type Tripped = 'stopped' | 'known';

/**
 * Why a part of a message was not looked through for secrets: it has a password, is packed in a way or so deep that nothing
 * here opens it, is of no known kind, or is longer than codings are undone in.
 */
export type Unread = 'locked' | 'packed' | 'unknown' | 'long';

/** An agent that sends, as a door knows it. The commit decides about its mail with what it finds then. */
export interface AgentSending {
  /** Public id of a token, or of the mailbox whose password an agent has: what it read and sent is counted by it. */
  readonly credential: string;
  /**
   * Public id under which its reading is kept: of the token that it and its like were made by, from token to token; left
   * out: its own.
   */
  readonly reader?: string;
  /** Somebody logged in with a password of the mailbox. Who has that may have any token of the organization as well. */
  readonly byPassword?: boolean;
  /** Owners and members of the organization whose address is proved, as addresses are compared. */
  readonly house?: readonly string[];
  readonly mode: AgentMode;
  readonly policy: AgentPolicy;
  /** A policy was chosen for it: budgets and ramps are of that. */
  readonly governed: boolean;
  /** Row of the message that it answers, as far as the door knows; null: none. */
  readonly answers: number | null;
  /** Row of the draft that it sends; left out: it was none, or is not known. */
  readonly draft?: number | null;
  /** It hands on a message, or a part of one, that somebody else wrote. */
  readonly forwards: boolean;
  /** It carries mail of the conversation that it answers: no news to who takes part in it. */
  readonly handsBack?: boolean;
  /** Kinds of secrets that were found in the octets: `token`, `password`, `code`, `canary`... */
  readonly secrets: readonly string[];
  /** Why not all of its message was looked through; left out: all was. */
  readonly unread?: readonly Unread[];
  /** Secrets were shown to agents of its organization, and are still sought. */
  readonly sawSecrets?: boolean;
  /** What its mail is still to be looked through for; left out: it was. */
  readonly watch?: EgressWatch;
  /** A person could let go what is held. */
  readonly attended: boolean;
  readonly limits: NarrowLimits | null;
}

/** Why a message of an agent waits, or does not go: for programs by its code, for people by its sentence. */
export interface Reason {
  readonly code: string;
  /** One sentence without its full stop; nothing of a stranger's in it but addresses. */
  readonly text: string;
  readonly recipients?: readonly string[];
}

/** What the gate has to say of an agent's mail. */
export type AgentVerdict =
  { readonly kind: 'go' } | { readonly kind: 'hold'; readonly reasons: readonly Reason[] } | AgentStop;

/** Nothing of it stays; `error` is the code that tools and routes answer with. */
export interface AgentStop {
  readonly kind: 'agent-stop';
  readonly error: 'secret_in_message' | 'budget_exceeded' | 'recipient_blocked' | 'action_not_allowed' | 'conflict';
  readonly reasons: readonly Reason[];
  /** Which budget it was too much for. */
  readonly budget?: SpentBudget;
  /** When there is room for it in that budget, ms UTC; left out: waiting makes none. */
  readonly resetsAt?: number;
}

/** A budget by its name, with what it allows and what is used of it. */
export interface SpentBudget {
  readonly name: string;
  readonly limit: number;
  readonly used: number;
}
