import { z } from 'zod';
import { ShownTrust } from '../reading/shown.ts';

const Time = z.string().describe('RFC 3339, UTC');
const OfMailbox = z.string().nullable().describe('null: no mailbox sends it');

/** A message came. Nothing in it is written by its sender. */
export const MailEvent = z.object({
  mailboxId: z.string(),
  messageId: z.string(),
  threadId: z.string(),
  receivedAt: Time,
  junk: z.boolean().describe('it was put into Junk'),
  trust: ShownTrust.nullable().describe('null: it was not judged'),
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

/** What became of mail that leaves. */
export const SendEvent = z.object({
  emailId: z.string().nullable().describe('as the send API gave it; null: it came by SMTP or JMAP'),
  trace: z.string(),
  mailboxId: OfMailbox,
  outboxId: z.string().nullable().describe('while it waits as a whole'),
  state: z.enum(SEND_STATES),
  recipients: z.array(z.string()).describe('whom this is about, 50 at most; none: all'),
  delivered: z.array(z.string()).describe('those of them who are on this box and have it'),
  enhancedCode: z.string().nullable(),
  smtpCode: z.number().nullable(),
  at: Time,
});

/** A person was asked about mail of an agent, or decided. */
export const ApprovalEvent = z.object({
  outboxId: z.string(),
  emailId: z.string().nullable(),
  trace: z.string(),
  mailboxId: OfMailbox,
  state: z.enum(['pending', 'approved', 'denied', 'expired', 'withdrawn']),
  at: Time,
});

/** How the token may work: when the stream begins, and when a person changes it. */
export const ModeEvent = z.object({ mode: z.enum(['normal', 'draft_only', 'reply_only', 'read_only', 'frozen']) });

/** What happened between the cursor and what is still known of is forgotten here. */
export const GapEvent = z.object({ message: z.string() });

/** All that a stream tells, by its name. */
export const EVENTS = {
  mail: MailEvent,
  send: SendEvent,
  approval: ApprovalEvent,
  mode: ModeEvent,
  gap: GapEvent,
} as const;
export type EventName = keyof typeof EVENTS;
