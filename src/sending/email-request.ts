import { z } from 'zod';
import type { NamedAddress } from '../../mail/message/compose.ts';
import { Id, Line } from '../operations/schemas.ts';
import { readMailbox } from './mailbox-text.ts';
import { Variables } from './template-text.ts';

/** Of to, cc and bcc together. */
export const MOST_RECIPIENTS = 50;
export const MOST_ATTACHMENTS = 100;
const LONGEST_BODY = 5_000_000;

export const Mailbox = z
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
  /^(?:from|sender|to|cc|bcc|reply-to|subject|date|message-id|in-reply-to|return-path|received(?:-spf)?|delivered-to|dkim-signature|mime-version|resent-.*|arc-.*|content-.*|authentication-results|tls-required|x-service-.*|x-mailstead-.*)$/i;
const HeaderName = z
  .string()
  .regex(/^[!-9;-~]{1,76}$/, 'a header name has letters, digits and -')
  .refine((name) => !RESERVED.test(name), 'this header has a field of its own, or is not yours to set');

/** The name under which a file was put at /api/email/uploads. */
export const UploadName = z.string().regex(/^[\w-]{1,64}$/, 'has letters, digits, - and _');

/** What a file is called and is, and where it lies unless its octets are given. */
export const FILE_FIELDS = {
  filename: Line(1, 255)
    .refine((name) => !/[\\/]/.test(name), 'a filename has no path')
    .optional(),
  contentType: z
    .string()
    .regex(/^[\w.+-]{1,60}\/[\w.+-]{1,60}$/, 'looks like application/pdf')
    .optional(),
  uploadId: UploadName.optional(),
  attachmentId: z
    .string()
    .regex(/^m[1-9a-z][0-9a-z]{0,9}(?:-[1-9][0-9_]{0,99})?$/, 'looks like m1a-2, as get_message gives it')
    .optional(),
  contentId: z
    .string()
    .regex(/^[\w.@+-]{1,120}$/, 'has letters, digits and . @ + - _')
    .optional(),
};

const Attachment = z
  .strictObject({
    ...FILE_FIELDS,
    content: z.base64().optional(),
  })
  .refine(({ content, uploadId, attachmentId }) => one(content, uploadId, attachmentId), {
    path: ['content'],
    message: 'is needed, or uploadId, or attachmentId, and only one of them',
  })
  .refine(({ content, filename }) => content === undefined || filename !== undefined, {
    path: ['filename'],
    message: 'is missing',
  });

const one = (...of: unknown[]): boolean => of.filter((value) => value !== undefined).length === 1;

const Tags = z
  .record(z.string().regex(/^[\w-]{1,64}$/), Line(0, 256))
  .refine((tags) => Object.keys(tags).length <= 50, 'has more than 50 names');

const Metadata = z
  .record(z.string().regex(/^[\w.-]{1,64}$/), z.union([z.string().max(1_000), z.number(), z.boolean()]))
  .refine((metadata) => JSON.stringify(metadata).length <= 4_000, 'has more than 4,000 characters');

const Template = z.strictObject({
  id: Id('template'),
  version: z.number().int().min(1).max(1_000_000).optional(),
  variables: Variables.default({}),
});

/** What a message is made of, at every door. */
export const EMAIL_FIELDS = {
  from: Mailbox,
  to: Mailboxes,
  cc: Mailboxes.default([]),
  bcc: Mailboxes.default([]),
  replyTo: Mailboxes.default([]),
  subject: Line(0, 998).optional(),
  text: z.string().max(LONGEST_BODY).optional(),
  html: z.string().max(LONGEST_BODY).optional(),
  template: Template.optional(),
  headers: z.record(HeaderName, Line(0, 998)).default({}),
  attachments: z.array(Attachment).max(MOST_ATTACHMENTS).default([]),
  inReplyTo: z
    .string()
    .regex(
      /^(?:<[^<>\s]{1,250}@[^<>\s]{1,250}>|(?:eml|msg)_[1-9]\d{0,14}|m[1-9a-z][0-9a-z]{0,9})$/,
      'looks like <id@example.com>, or is an id that this server gave: eml_12, msg_12, m1a',
    )
    .optional(),
  threadId: z
    .string()
    .regex(/^t[1-9a-z][0-9a-z]{0,9}$/, 'looks like t1a')
    .optional(),
  listUnsubscribe: z.union([z.url({ protocol: /^https$/ }).max(500), z.literal(true)]).optional(),
  tags: Tags.default({}),
  metadata: Metadata.default({}),
  sendAt: z.iso.datetime({ offset: true }).optional(),
  requireTls: z.boolean().default(false),
  saveToSent: z.boolean().default(false),
  idempotencyKey: Line(1, 256).optional(),
  allowDuplicate: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  failIfApprovalNeeded: z.boolean().default(false),
};

/** The body of `POST /api/email/send`. What is only wrong together is for {@link flawOf}. */
export const EmailRequest = z.strictObject(EMAIL_FIELDS);

/** What is wrong with a request that is right field by field. */
export function flawOf(mail: EmailRequest): { path: string; message: string } | undefined {
  if (mail.inReplyTo !== undefined && mail.threadId !== undefined) {
    return { path: 'threadId', message: 'names what is answered, and so does inReplyTo: give one of them' };
  }
  const named = mail.to.length + mail.cc.length + mail.bcc.length;
  if (named === 0) return { path: 'to', message: 'is empty' };
  if (named > MOST_RECIPIENTS) {
    return { path: 'to', message: `has more than ${MOST_RECIPIENTS} recipients with cc and bcc` };
  }
  if (mail.template !== undefined) {
    const twice = (['subject', 'text', 'html'] as const).find((name) => mail[name] !== undefined);
    return twice === undefined ? undefined : { path: twice, message: 'comes from the template' };
  }
  if (mail.subject === undefined) return { path: 'subject', message: 'is missing; it may be empty' };
  if (mail.text === undefined && mail.html === undefined) return { path: 'text', message: 'text or html is needed' };
  const names = Object.keys(mail.headers).map((name) => name.toLowerCase());
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  return twice === undefined ? undefined : { path: `headers.${twice}`, message: 'is given twice' };
}

export type EmailRequest = z.output<typeof EmailRequest>;
