import { z } from 'zod';
import { TrustFacts } from '../reading/summary-schema.ts';

const Time = z.string().describe('RFC 3339, UTC');
const OfMailbox = z.string().nullable().describe('null: not sent by a mailbox');

/** A message arrived. Contains no text of its sender. */
export const MailEvent = z.object({
  mailboxId: z.string(),
  messageId: z.string(),
  threadId: z.string(),
  receivedAt: Time,
  junk: z.boolean().describe('delivered to Junk'),
  trust: TrustFacts.nullable().describe('null: not checked by the filter'),
});

export const SEND_STATES = [
  'scheduled',
  'held',
  'released',
  'cancelled',
  'sent',
  'suppressed',
  'deferred',
  'delivered',
  'bounced',
  'complained',
] as const;
export type SendState = (typeof SEND_STATES)[number];

/** The new state of outbound mail. */
export const SendEvent = z.object({
  emailId: z.string().nullable().describe('id of the send API; null: submitted by SMTP or JMAP'),
  trace: z.string(),
  mailboxId: OfMailbox,
  outboxId: z.string().nullable().describe('present while the whole message is held'),
  state: z.enum(SEND_STATES),
  recipients: z.array(z.string()).describe('affected recipients, 50 at most; empty: all'),
  delivered: z.array(z.string()).describe('recipients on this box that have received it'),
  enhancedCode: z.string().nullable(),
  smtpCode: z.number().nullable(),
  at: Time,
});

/** An approval of an agent's mail was requested or decided. */
export const ApprovalEvent = z.object({
  outboxId: z.string(),
  emailId: z.string().nullable(),
  trace: z.string(),
  mailboxId: OfMailbox,
  state: z.enum(['pending', 'approved', 'denied', 'expired', 'withdrawn']),
  at: Time,
});

/** The mode of the token, sent at the begin of the stream and after each change. */
export const ModeEvent = z.object({ mode: z.enum(['normal', 'draft_only', 'reply_only', 'read_only', 'frozen']) });

/** Events between the cursor and the oldest retained one were deleted. */
export const GapEvent = z.object({ message: z.string() });

/** All stream events, by name. */
export const EVENTS = {
  mail: MailEvent,
  send: SendEvent,
  approval: ApprovalEvent,
  mode: ModeEvent,
  gap: GapEvent,
} as const;
export type EventName = keyof typeof EVENTS;
