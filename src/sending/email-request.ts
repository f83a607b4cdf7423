import { z } from 'zod';
import type { NamedAddress } from '../../mail/message/compose-text.ts';
import { THREAD_ID } from '../core/message-ids.ts';
import { Id, Line } from '../core/schemas.ts';
import { readMailbox } from './mailbox-text.ts';
import { Variables } from './template-text.ts';

/** Recipients in to, cc and bcc together. */
export const MAX_RECIPIENTS = 50;
export const MAX_ATTACHMENTS = 100;
const MAX_BODY_CHARS = 5_000_000;

export const Mailbox = z
  .string()
  .max(500)
  .transform((text, context): NamedAddress => {
    const read = readMailbox(text);
    if (read !== undefined) return read;
    context.addIssue({
      code: 'custom',
      message: 'must be an address such as you@example.com or Name <you@example.com>',
    });
    return z.NEVER;
  });
const List = z.array(Mailbox).max(MAX_RECIPIENTS, `has more than ${MAX_RECIPIENTS} addresses`);
const Mailboxes = z.union([Mailbox, List]).transform((one) => [one].flat());
/** Programs send '' for a field that they leave empty. */
const OptionalMailboxes = z
  .union([z.literal(''), Mailbox, List])
  .transform((one) => (one === '' ? [] : [one].flat()))
  .default([]);

/** Header fields that have a parameter of their own or are set by the server. */
const RESERVED =
  /^(?:from|sender|to|cc|bcc|reply-to|subject|date|message-id|in-reply-to|return-path|received(?:-spf)?|delivered-to|dkim-signature|mime-version|resent-.*|arc-.*|content-.*|authentication-results|tls-required|x-service-.*|x-mailstead-.*)$/i;
const HeaderName = z
  .string()
  .regex(/^[!-9;-~]{1,76}$/, 'a header name has letters, digits and -')
  .refine((name) => !RESERVED.test(name), 'this header has its own parameter, or is set by the server');

/** Name of a file uploaded to /api/email/uploads. */
export const UploadName = z.string().regex(/^[\w-]{1,64}$/, 'must have only letters, digits, - and _');

/** Name, type and reference of a file. */
export const FILE_FIELDS = {
  filename: Line(1, 255)
    .refine((name) => !/[\\/]/.test(name), 'a filename must not contain a path')
    .optional(),
  contentType: z
    .string()
    .regex(/^[\w.+-]{1,60}\/[\w.+-]{1,60}$/, 'must look like application/pdf')
    .optional(),
  uploadId: UploadName.optional(),
  attachmentId: z
    .string()
    .regex(
      /^m(?:[1-9]\d{0,9}_)?[1-9a-z][0-9a-z]{0,9}(?:-[1-9][0-9_]{0,99})?$/,
      'must look like m12_1a-2, as returned by get_message',
    )
    .optional(),
  contentId: z
    .string()
    .regex(/^[\w.@+-]{1,120}$/, 'must have only letters, digits and . @ + - _')
    .optional(),
};

const Attachment = z
  .strictObject({
    ...FILE_FIELDS,
    content: z.base64().optional(),
  })
  .refine(({ content, uploadId, attachmentId }) => isExactlyOne(content, uploadId, attachmentId), {
    path: ['content'],
    message: 'give exactly one of content, uploadId and attachmentId',
  })
  .refine(({ content, filename }) => content === undefined || filename !== undefined, {
    path: ['filename'],
    message: 'is missing',
  });

const isExactlyOne = (...of: unknown[]): boolean => of.filter((value) => value !== undefined).length === 1;

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

/** Parameters of a message, the same for every endpoint. */
export const EMAIL_FIELDS = {
  from: Mailbox.describe('Own address'),
  to: Mailboxes,
  cc: OptionalMailboxes,
  bcc: OptionalMailboxes,
  replyTo: OptionalMailboxes,
  subject: Line(0, 998).describe('Subject').optional(),
  text: z.string().max(MAX_BODY_CHARS).describe('Plain text body').optional(),
  html: z.string().max(MAX_BODY_CHARS).describe('HTML body').optional(),
  template: Template.describe('Instead of subject, text and html').optional(),
  headers: z.record(HeaderName, Line(0, 998)).default({}),
  attachments: z.array(Attachment).max(MAX_ATTACHMENTS).default([]),
  inReplyTo: z
    .string()
    .regex(
      /^(?:<[^<>\s]{1,250}@[^<>\s]{1,250}>|(?:eml|msg)_[1-9]\d{0,14}|m(?:[1-9]\d{0,9}_)?[1-9a-z][0-9a-z]{0,9})$/,
      'must look like <id@example.com>, or be an id of this server: eml_12, msg_12, m12_1a',
    )
    .describe('Message-ID or message id')
    .optional(),
  threadId: z.string().regex(THREAD_ID, 'must look like t12_1a').describe('Or the conversation to reply to').optional(),
  listUnsubscribe: z.union([z.url({ protocol: /^https$/ }).max(500), z.literal(true)]).optional(),
  tags: Tags.default({}).describe('Key-value labels for reports'),
  metadata: Metadata.default({}),
  sendAt: z.iso.datetime({ offset: true }).describe('Send later (RFC 3339)').optional(),
  requireTls: z.boolean().default(false),
  saveToSent: z.boolean().default(false),
  idempotencyKey: Line(1, 256).describe('Same key: sent once').optional(),
  allowDuplicate: z.boolean().default(false).describe('Send even if repeated'),
  dryRun: z.boolean().default(false).describe('Only report what would happen'),
  failIfApprovalNeeded: z.boolean().default(false).describe('Refuse instead of awaiting approval'),
};

/** Body of `POST /api/email/send`. Checks across parameters are in {@link findRequestError}. */
export const EmailRequest = z.strictObject(EMAIL_FIELDS);

/** Finds an error across parameters that are valid on their own. */
export function findRequestError(mail: EmailRequest): { path: string; message: string } | undefined {
  if (mail.inReplyTo !== undefined && mail.threadId !== undefined) {
    return { path: 'threadId', message: 'give either threadId or inReplyTo, not both' };
  }
  const named = mail.to.length + mail.cc.length + mail.bcc.length;
  if (named === 0) return { path: 'to', message: 'is empty' };
  if (named > MAX_RECIPIENTS) {
    return { path: 'to', message: `has more than ${MAX_RECIPIENTS} recipients with cc and bcc` };
  }
  if (mail.template !== undefined) {
    const twice = (['subject', 'text', 'html'] as const).find((name) => mail[name] !== undefined);
    return twice === undefined ? undefined : { path: twice, message: 'must be left out: it comes from the template' };
  }
  if (mail.subject === undefined) return { path: 'subject', message: 'is missing; it may be empty' };
  if (mail.text === undefined && mail.html === undefined) return { path: 'text', message: 'text or html is required' };
  const names = Object.keys(mail.headers).map((name) => name.toLowerCase());
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  return twice === undefined ? undefined : { path: `headers.${twice}`, message: 'is given twice' };
}

export type EmailRequest = z.output<typeof EmailRequest>;
