import { z } from 'zod';
import {
  EMAIL_FIELDS,
  type EmailRequest,
  FILE_FIELDS,
  Mailbox,
  MOST_ATTACHMENTS,
  MOST_RECIPIENTS,
} from '../../sending/email-request.ts';
import { Line } from '../schemas.ts';

/** Of base64: what a model should have to carry. */
const MOST_BASE64 = Math.ceil((64 * 1024 * 4) / 3);

const { contentId: _shown, ...NAMED_FILE } = FILE_FIELDS;

/** Files are named and not carried: put there before, or a part of a message of the mailbox that sends. */
const AgentFile = z
  .strictObject({
    ...NAMED_FILE,
    contentBase64: z.base64().max(MOST_BASE64, 'has more than 64 KiB: use uploadId').optional(),
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

export const AgentFiles = z.array(AgentFile).max(MOST_ATTACHMENTS);

const Headers = z.record(
  z.string().regex(/^X-(?!Service-|Mailstead-)[!-9;-~]{1,74}$/i, 'only X- headers'),
  Line(0, 998),
);

/** How a message of an agent is sent, whatever it is. */
export const SENDING_FIELDS = {
  attachments: AgentFiles.default([]),
  sendAt: EMAIL_FIELDS.sendAt,
  idempotencyKey: EMAIL_FIELDS.idempotencyKey,
  allowDuplicate: EMAIL_FIELDS.allowDuplicate,
  dryRun: EMAIL_FIELDS.dryRun,
  failIfApprovalNeeded: EMAIL_FIELDS.failIfApprovalNeeded,
};

/** A text alone is a list of one for every tool, so its schema need not say so. */
export const AgentMailboxes = z.array(Mailbox).max(MOST_RECIPIENTS);

export const MoreRecipients = { cc: AgentMailboxes.default([]), bcc: AgentMailboxes.default([]) };

/** A new message of an agent. What is for programs would only cost every agent's context. */
export const EMAIL_TOOL_FIELDS = {
  from: EMAIL_FIELDS.from,
  to: AgentMailboxes,
  ...MoreRecipients,
  replyTo: AgentMailboxes.default([]),
  subject: EMAIL_FIELDS.subject,
  text: EMAIL_FIELDS.text,
  html: EMAIL_FIELDS.html,
  template: EMAIL_FIELDS.template,
  headers: Headers.default({}),
  inReplyTo: EMAIL_FIELDS.inReplyTo,
  threadId: EMAIL_FIELDS.threadId,
  tags: EMAIL_FIELDS.tags,
  ...SENDING_FIELDS,
};

/** An agent finds what it sent in the mailbox that it sent from. */
export const FOR_AGENTS = { metadata: {}, requireTls: false, saveToSent: true };

export type AgentFile = z.output<typeof AgentFile>;

/** Files as the send API names them. */
export function filesAsked(files: readonly AgentFile[]): EmailRequest['attachments'] {
  return files.map(({ contentBase64, ...file }) => ({
    ...file,
    ...(contentBase64 !== undefined && { content: contentBase64 }),
  }));
}
