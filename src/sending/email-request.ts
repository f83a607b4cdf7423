import { z } from 'zod';
import type { NamedAddress } from '../../mail/message/compose.ts';
import { Line } from '../operations/schemas.ts';
import { readMailbox } from './mailbox-text.ts';

/** Of to, cc and bcc together. */
export const MOST_RECIPIENTS = 50;
const MOST_ATTACHMENTS = 100;
const LONGEST_BODY = 5_000_000;
const LONGEST_SCHEDULE_MS = 30 * 24 * 3_600_000;

const Mailbox = z
  .string()
  .max(500)
  .transform((text, context): NamedAddress => {
    const read = readMailbox(text);
    if (read !== undefined) return read;
    context.addIssue({ code: 'custom', message: 'is no address such as you@example.com or Name <you@example.com>' });
    return z.NEVER;
  });
const Mailboxes = z.union([Mailbox, z.array(Mailbox).max(MOST_RECIPIENTS)]).transform((one) => [one].flat());

/** Fields that say who, when or how, which are given in other ways or are not the sender's to say. */
const RESERVED =
  /^(?:from|sender|to|cc|bcc|reply-to|subject|date|message-id|return-path|received|delivered-to|dkim-signature|mime-version|resent-.*|arc-.*|content-.*|authentication-results|x-service-.*)$/i;
const HeaderName = z
  .string()
  .regex(/^[!-9;-~]{1,76}$/, 'a header name has letters, digits and -')
  .refine((name) => !RESERVED.test(name), 'this header has a field of its own, or is not yours to set');

const Attachment = z.strictObject({
  filename: Line(1, 255).refine((name) => !/[\\/]/.test(name), 'a filename has no path'),
  contentType: z
    .string()
    .regex(/^[\w.+-]{1,60}\/[\w.+-]{1,60}$/, 'looks like application/pdf')
    .default('application/octet-stream'),
  content: z.base64(),
  contentId: z
    .string()
    .regex(/^[\w.@+-]{1,120}$/, 'has letters, digits and . @ + - _')
    .optional(),
});

const Tags = z
  .record(z.string().regex(/^[\w-]{1,64}$/), Line(0, 256))
  .refine((tags) => Object.keys(tags).length <= 50, 'has more than 50 names');

/** The body of `POST /api/email/send`. */
export const EmailRequest = z
  .strictObject({
    from: Mailbox,
    to: Mailboxes,
    cc: Mailboxes.default([]),
    bcc: Mailboxes.default([]),
    replyTo: Mailboxes.default([]),
    subject: Line(0, 998),
    text: z.string().max(LONGEST_BODY).optional(),
    html: z.string().max(LONGEST_BODY).optional(),
    headers: z.record(HeaderName, Line(0, 998)).default({}),
    attachments: z.array(Attachment).max(MOST_ATTACHMENTS).default([]),
    inReplyTo: z
      .string()
      .regex(/^<[^<>\s]{1,250}@[^<>\s]{1,250}>$/, 'looks like <id@example.com>')
      .optional(),
    listUnsubscribe: z
      .url({ protocol: /^https$/ })
      .max(500)
      .optional(),
    tags: Tags.default({}),
    sendAt: z.iso.datetime({ offset: true }).optional(),
    idempotencyKey: Line(1, 256).optional(),
    dryRun: z.boolean().default(false),
  })
  .refine((mail) => mail.text !== undefined || mail.html !== undefined, {
    path: ['text'],
    message: 'text or html is needed',
  })
  .refine((mail) => mail.to.length + mail.cc.length + mail.bcc.length <= MOST_RECIPIENTS, {
    path: ['to'],
    message: `has more than ${MOST_RECIPIENTS} recipients with cc and bcc`,
  })
  .refine((mail) => mail.to.length + mail.cc.length + mail.bcc.length > 0, { path: ['to'], message: 'is empty' });

export type EmailRequest = z.output<typeof EmailRequest>;

/** ms UTC, null for now; undefined when it lies too far off. What is past is now. */
export function sendTime(request: EmailRequest, now: number): number | null | undefined {
  if (request.sendAt === undefined) return null;
  const at = Date.parse(request.sendAt);
  if (at <= now) return null;
  return at - now > LONGEST_SCHEDULE_MS ? undefined : at;
}
