import { z } from 'zod';
import {
  EMAIL_FIELDS,
  type EmailRequest,
  FILE_FIELDS,
  Mailbox,
  MAX_ATTACHMENTS,
  MAX_RECIPIENTS,
} from '../../sending/email-request.ts';
import { Line } from '../../core/schemas.ts';

/** Maximum base64: more would fill a model's context. */
const MAX_BASE64 = Math.ceil((64 * 1024 * 4) / 3);

const { contentId: _shown, ...NAMED_FILE } = FILE_FIELDS;

/** Attachments by reference: an upload, or a part of a message in the sending mailbox. */
const AgentFile = z
  .strictObject({
    ...NAMED_FILE,
    contentBase64: z.base64().max(MAX_BASE64, 'has more than 64 KiB: use uploadId').optional(),
  })
  .refine(
    ({ contentBase64, uploadId, attachmentId }) => [contentBase64, uploadId, attachmentId].filter(isGiven).length === 1,
    {
      path: ['uploadId'],
      message: 'is needed, or attachmentId, or contentBase64, and only one of them',
    },
  )
  .refine(({ contentBase64, filename }) => contentBase64 === undefined || filename !== undefined, {
    path: ['filename'],
    message: 'is missing',
  });

const isGiven = (value: unknown): boolean => value !== undefined;

/** Description of `attachments`. */
export const FILES = 'Each uploadId, attachmentId, or contentBase64 (64 KiB)';
export const AgentFiles = z.array(AgentFile).max(MAX_ATTACHMENTS);

const Headers = z.record(
  z.string().regex(/^X-(?!Service-|Mailstead-)[!-9;-~]{1,74}$/i, 'only X- headers'),
  Line(0, 998),
);

/** Options for sending, shared by all sending tools. */
export const SENDING_FIELDS = {
  attachments: AgentFiles.default([]).describe(FILES),
  sendAt: EMAIL_FIELDS.sendAt,
  idempotencyKey: EMAIL_FIELDS.idempotencyKey,
  allowDuplicate: EMAIL_FIELDS.allowDuplicate,
  dryRun: EMAIL_FIELDS.dryRun,
  failIfApprovalNeeded: EMAIL_FIELDS.failIfApprovalNeeded,
};

/** Lists only in the schema: a single text is accepted too (argument-normalizer.ts). */
export const AgentMailboxes = z.array(Mailbox).max(MAX_RECIPIENTS, `has more than ${MAX_RECIPIENTS} addresses`);

/** Fits the body limit of the tools. */
const MAX_TEXT_CHARS = 500_000;
export const BodyTexts = {
  text: z.string().max(MAX_TEXT_CHARS).describe('Plain text body').optional(),
  html: z.string().max(MAX_TEXT_CHARS).describe('HTML body').optional(),
};

export const MoreRecipients = {
  cc: AgentMailboxes.default([]).describe('Copies'),
  bcc: AgentMailboxes.default([]).describe('Blind copies'),
};

export const Quote = z.boolean().default(true).describe('Quote the original');
export const ReplyAll = z.boolean().default(false).describe('Also to its other recipients');

/** Arguments of send_email. Fields for programs are left out: they cost every agent's context. */
export const EMAIL_TOOL_FIELDS = {
  from: EMAIL_FIELDS.from,
  to: AgentMailboxes.describe('Recipients'),
  ...MoreRecipients,
  replyTo: AgentMailboxes.default([]).describe('Reply-To'),
  subject: EMAIL_FIELDS.subject,
  ...BodyTexts,
  template: EMAIL_FIELDS.template,
  headers: Headers.default({}).describe('X- headers'),
  inReplyTo: EMAIL_FIELDS.inReplyTo,
  threadId: EMAIL_FIELDS.threadId,
  tags: EMAIL_FIELDS.tags,
  ...SENDING_FIELDS,
};

/** Fixed options: an agent finds its mail in Sent. */
export const FOR_AGENTS = { metadata: {}, requireTls: false, saveToSent: true };

export type AgentFile = z.output<typeof AgentFile>;

/** Converts attachments to the form of the send API. */
export function requestedFiles(files: readonly AgentFile[]): EmailRequest['attachments'] {
  return files.map(({ contentBase64, ...file }) => ({
    ...file,
    ...(contentBase64 !== undefined && { content: contentBase64 }),
  }));
}
