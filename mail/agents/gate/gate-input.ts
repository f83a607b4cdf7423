import type { MessageFacts, MessageIndex } from '../../message/index-types.ts';
import type { Allowance } from '../../store/limit/allowance.ts';
import type { MessageAuthorship } from '../../store/message/authors.ts';
import type { Sending } from '../taint/taint.ts';
import type { AgentSending } from './types.ts';

/** A message of an agent before it is accepted, as the gate needs it. */
export interface AgentMail {
  trace: string;
  tenant: number;
  /** Null if no mailbox sends it. */
  account: number | null;
  /** Envelope sender. */
  sender: string;
  /** Addresses of all recipients, Bcc included. */
  recipients: readonly string[];
  /** Local mailboxes that receive it, by the address that was named. */
  here: readonly { readonly to: string; readonly account: number }[];
  allowance: Allowance | null;
  /** ms UTC; null: at once. */
  sendAt: number | null;
  index: MessageFacts | MessageIndex;
  data: Uint8Array | null;
  /** SHA-256 of the octets, hex; required if they are in a file. */
  sha256?: string;
}

/** A recipient of an agent's mail, with the facts about them. */
export interface Recipient {
  /** As written. */
  address: string;
  /** As compared. */
  key: string;
  /** A mailbox, owner or member of the organization, whose mail is not forwarded outside. */
  internal: boolean;
  /** On the owners' allow list: mail to them is never held. */
  allowed: boolean;
  /** Authenticated author in the answered thread. */
  author: boolean;
  /** An unauthenticated message in that thread claims this address. */
  claimed: boolean;
  /** Named in To or Cc of a message of that thread. */
  named: boolean;
  /** Named in Reply-To of the answered message, and not its From. */
  divertedTo: boolean;
}

/** All recipients of an agent's message, and the thread that it answers. */
export interface RecipientContext {
  recipients: readonly Recipient[];
  /** Row of the thread; null if it answers nothing in the mailbox. */
  thread: number | null;
  /** Authors in the thread, newest first. */
  authors: readonly MessageAuthorship[];
}

/** Input of the gate's decision. */
export interface GateInput {
  mail: AgentMail;
  agent: AgentSending;
  context: RecipientContext;
}

/** Gate input with its weight: computed once in its commit, before anything of it is counted. */
export interface WeighedMail extends GateInput {
  /** Keys of the recipients that the sender has never written to. */
  fresh: readonly string[];
  /** Number of messages that it counts as. */
  weight: number;
}

/** Returns the name under which a sender's messages are counted: narrowed tokens share the budgets of their root token. */
export function readerOf({ reader, credential }: AgentSending): string {
  return reader ?? credential;
}

/** Returns the identity by which a sending agent's taint is looked up. */
export function sendingOf({ tenant }: Pick<AgentMail, 'tenant'>, agent: AgentSending): Sending {
  return { tenant, reader: readerOf(agent), byPassword: agent.byPassword === true };
}
