import type { Address } from '../../mail/message/address.ts';
import type { ComposedEmail } from './compose-email.ts';

/** Field of the answered message that a recipient was taken from. `reply_to`: in Reply-To and not in From. */
export const RECIPIENT_SOURCES = ['from', 'reply_to', 'to', 'cc'] as const;
export type RecipientSource = (typeof RECIPIENT_SOURCES)[number];

export interface RecipientFields {
  /** Set for recipients taken from the answered message. */
  source?: RecipientSource;
  /** Field of the sent message; left out: To. */
  field?: 'cc' | 'bcc';
}

/** Recipient of an outgoing message. */
export interface OutboundRecipient extends RecipientFields {
  address: Address;
}

/** A message ready for submission, with its options. */
export interface OutboundEmail {
  trace: string;
  /** Envelope sender and author. */
  from: Address;
  /** Without duplicates. */
  recipients: readonly OutboundRecipient[];
  composed: ComposedEmail;
  /** ms UTC; null: now. */
  sendAt: number | null;
  dryRun: boolean;
  /** Refused if it would be held for approval. */
  failIfHeld: boolean;
  requireTls: boolean;
  saveToSent: boolean;
  tags: Readonly<Record<string, string>>;
  metadata: Readonly<Record<string, string | number | boolean>>;
  /** As given in the request. */
  threadId: string | null;
  /** Rows in the sending mailbox: the answered message, the forwarded one, and the draft. */
  answers: number | null;
  forwards: number | null;
  /** It contains content of others: a forwarded message or a part of one. */
  findQuotedContent: boolean;
  draft: number | null;
}
