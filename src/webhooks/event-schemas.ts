import { z } from 'zod';
import { OUTBOUND_TYPES } from './event-types.ts';

const Url24 = z.string().describe('good for 24 hours, without a credential');
const Passed = z.enum(['pass', 'fail', 'none']);
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

/** What the server itself found out about a message; nothing of it is read from the message. */
export const TrustShown = z.object({
  auth: z.object({ spf: Passed, dkim: Passed, dmarc: Passed }),
  alignedFrom: z.boolean().describe('SPF or DKIM vouches for the domain of the author'),
  knownSender: z.boolean().describe('the mailbox knows this author, who has proved to be it'),
  verdict: z.enum(['clear', 'suspicious', 'quarantined']),
  flags: z.array(z.string()),
  externalSender: z.boolean(),
});

/** What a webhook of a mailbox is told of a message: what the sender wrote, as plain strings. */
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
  trust: TrustShown.nullable().describe('what this server found out about it; null for what it did not judge'),
  truncated: z
    .object({ fields: z.array(z.string()), url: Url24 })
    .optional()
    .describe('only there when fields of message were cut, and says which; url has the whole message'),
});
export type InboundEvent = z.output<typeof InboundEvent>;

/** What a webhook of an organization is told of mail that leaves. */
export const OutboundEvent = z.object({
  id: z.string().describe('that of the header webhook-id: the same for every attempt'),
  type: z.enum(OUTBOUND_TYPES),
  createdAt: Time,
  data: z.object({
    emailId: z.string().nullable().describe('of what a program sent; null: it came by SMTP'),
    trace: z.string(),
    messageId: z.string().nullable(),
    from: z.string(),
    to: z.array(z.string()),
    subject: z.string().nullable(),
    tags: z.record(z.string(), z.string()),
    smtpCode: z.number().nullable().describe('of the server that answered; null: none did'),
    enhancedCode: z.string().nullable(),
    host: z.string().nullable(),
    text: z.string().nullable().describe('what that server said'),
    explanation: z.string().describe('a sentence for people'),
  }),
});
export type OutboundEvent = z.output<typeof OutboundEvent>;
