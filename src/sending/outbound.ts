import type { Address } from '../../mail/message/address.ts';
import type { Composed } from './compose-email.ts';

/** The field of the message that is answered in which a recipient stands. `reply_to`: there, and not in its From. */
export const SOURCES = ['from', 'reply_to', 'to', 'cc'] as const;
export type Source = (typeof SOURCES)[number];

/** Somebody who gets a message. */
export interface Recipient {
  address: Address;
  /** Null: who sends named them. */
  source: Source | null;
}

/** A message that is ready to leave, whoever wrote it: what the gate is asked about, and what goes with it. */
export interface Outbound {
  trace: string;
  /** Envelope sender, and the author. */
  from: Address;
  /** Each once. */
  recipients: readonly Recipient[];
  composed: Composed;
  /** ms UTC; null: now. */
  sendAt: number | null;
  dryRun: boolean;
  /** It is refused where a person would have to let it go. */
  failIfHeld: boolean;
  requireTls: boolean;
  saveToSent: boolean;
  tags: Readonly<Record<string, string>>;
  metadata: Readonly<Record<string, string | number | boolean>>;
  /** As it was named by who asks. */
  threadId: string | null;
  /** Rows of messages in the mailbox that sends: what it answers, what it passes on, and the draft that it was. */
  answers: number | null;
  forwards: number | null;
  /** It holds what somebody else wrote: a message that is passed on, or a part of one. */
  handsOn: boolean;
  draft: number | null;
}
