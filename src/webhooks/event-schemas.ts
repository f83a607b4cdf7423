import { z } from 'zod';
import { OUTBOUND_TYPES } from './event-types.ts';

const Url24 = z.string().describe('good for 24 hours, without a credential');
const AuthResult = z.enum(['pass', 'fail', 'none']);
const Time = z.string().describe('RFC 3339, UTC');

export const AttachmentElement = z.object({
  id: z.string(),
  filename: z.string().describe('safe to save under'),
  contentType: z.string(),
  size: z.number().int().describe('octets'),
  sha256: z.string(),
  contentId: z.string().nullable(),
  inline: z.boolean(),
  url: Url24,
});
export type AttachmentElement = z.output<typeof AttachmentElement>;

/** Results of the server's own checks; nothing is copied from the message. */
export const InboundTrust = z.object({
  auth: z.object({ spf: AuthResult, dkim: AuthResult, dmarc: AuthResult }),
  alignedFrom: z.boolean().describe('SPF or DKIM passed and is aligned with the From domain'),
  knownSender: z.boolean().describe('authenticated sender with whom the mailbox has exchanged mail'),
  verdict: z.enum(['clear', 'suspicious', 'quarantined']),
  flags: z.array(z.string()),
  externalSender: z.boolean(),
});

/** The event of a received message, for the webhook of a mailbox: the sender's content as plain strings. */
export const InboundEvent = z.object({
  type: z.literal('email.inbound'),
  mailbox: z.string().describe('the address of the mailbox'),
  message: z.object({
    from: z.string(),
    to: z.string(),
    cc: z.string(),
    subject: z.string(),
    text: z.string(),
    html: z.string(),
    messageId: z.string(),
    receivedAt: Time,
    attachments: z.array(AttachmentElement),
  }),
  trust: InboundTrust.nullable().describe(
    'results of the checks of this server; null when the message was not checked',
  ),
  truncated: z
    .object({ fields: z.array(z.string()), url: Url24 })
    .optional()
    .describe('present when fields of message were truncated, with their names; url has the whole message'),
});
export type InboundEvent = z.output<typeof InboundEvent>;

/** The event of outbound mail, for webhooks of an organization. */
export const OutboundEvent = z.object({
  id: z.string().describe('same as the header webhook-id, for every attempt'),
  type: z.enum(OUTBOUND_TYPES),
  createdAt: Time,
  data: z.object({
    emailId: z.string().nullable().describe('id of the send API; null: submitted by SMTP'),
    trace: z.string(),
    messageId: z.string().nullable(),
    from: z.string(),
    to: z.array(z.string()),
    subject: z.string().nullable(),
    tags: z.record(z.string(), z.string()),
    smtpCode: z.number().nullable().describe("the remote server's reply code; null: no reply"),
    enhancedCode: z.string().nullable(),
    host: z.string().nullable(),
    text: z.string().nullable().describe("the remote server's reply text"),
    explanation: z.string().describe('explanation for humans'),
  }),
});
export type OutboundEvent = z.output<typeof OutboundEvent>;
