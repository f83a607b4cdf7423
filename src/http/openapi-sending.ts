import { z } from 'zod';
import { EmailRequest } from '../sending/email-request.ts';
import { SendResult } from '../sending/send-result.ts';

type Json = Record<string, unknown>;

const MAIL = {
  from: 'Shop <orders@example.com>',
  to: 'anna@example.org',
  subject: 'Your order',
  html: '<p>Thank you</p>',
};
const LATER = { ...MAIL, sendAt: '2030-01-01T09:00:00Z', tags: { kind: 'reminder' } };
const TEMPLATE = { from: MAIL.from, to: MAIL.to, template: { id: 'tpl_1', variables: { name: 'Anna' } } };
const FILE = { ...MAIL, attachments: [{ filename: 'invoice.pdf', contentType: 'application/pdf', uploadId: 'inv-1' }] };
const REPLY = { ...MAIL, subject: 'Re: Your order', threadId: 't12_1a', saveToSent: true };
const ANSWER: SendResult = {
  id: 'eml_1',
  messageId: 'eml_1',
  status: 'queued',
  rfc822MessageId: '<8f14e45fceea167a5a36dedd4bea2543@example.com>',
  threadId: null,
  recipients: [{ address: 'anna@example.org', state: 'queued' }],
  envelope: { mailFrom: 'orders@example.com', rcptTo: ['anna@example.org'] },
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  scheduledAt: null,
  outboxId: null,
  approveUrl: null,
  reasons: [],
  duplicateOf: null,
  budget: null,
};

const EMAIL = schemaOf(EmailRequest, 'input');
const RESULT = schemaOf(SendResult, 'output');
const ID: Json = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const ONCE: Json = { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 256 } };

/** The send API: for programs that hold an email API key. */
export function sendingPaths(): FixedPath[] {
  return [
    path('post', '/api/email/send', 'send_email_by_key', 'Send an email', {
      parameters: [ONCE],
      ...body(EMAIL, { now: MAIL, later: LATER, template: TEMPLATE, file: FILE, reply: REPLY }),
      ...answer(202, RESULT, ANSWER),
    }),
    path(
      'post',
      '/api/email/send/batch',
      'send_email_batch',
      'Send up to 100 emails; each succeeds or fails separately',
      {
        parameters: [ONCE],
        ...body({ type: 'array', items: EMAIL, minItems: 1, maxItems: 100 }, { two: [MAIL, LATER] }),
        ...answer(202, { type: 'object' }, { results: [ANSWER] }),
      },
    ),
    path('get', '/api/email/messages/{id}', 'get_sent_email', 'Get the status of each recipient', {
      parameters: [ID],
      ...answer(200, { type: 'object' }, { id: 'eml_1', status: 'delivered', recipients: ANSWER.recipients }),
    }),
    path('get', '/api/email/messages/{id}/events', 'list_sent_email_events', 'List the delivery events of a message', {
      parameters: [ID],
      ...answer(200, { type: 'object' }, { id: 'eml_1', events: [{ at: '2030-01-01T09:00:00Z', event: 'submitted' }] }),
    }),
    path('delete', '/api/email/messages/{id}/schedule', 'cancel_sent_email', 'Cancel a scheduled message', {
      parameters: [ID],
      ...answer(200, { type: 'object' }, { id: 'eml_1', status: 'cancelled' }),
    }),
    path(
      'put',
      '/api/email/upload-links',
      'put_linked_upload',
      'Upload the file that upload_attachment_url announced',
      {
        description: 'Upload the file that upload_attachment_url announced. The link is the credential.',
        security: [],
        parameters: [{ name: 'ticket', in: 'query', required: true, schema: { type: 'string' } }],
        requestBody: { required: true, content: { 'application/octet-stream': { schema: { type: 'string' } } } },
        ...answer(201, { type: 'object' }, { uploadId: 'inv-1', size: 48_213, expiresAt: '2030-01-02T09:00:00Z' }),
      },
    ),
    path('put', '/api/email/uploads/{id}', 'put_email_upload', 'Upload a file for a message; kept for 24 hours', {
      parameters: [ID],
      requestBody: { required: true, content: { 'application/octet-stream': { schema: { type: 'string' } } } },
      ...answer(201, { type: 'object' }, { uploadId: 'inv-1', size: 48_213, expiresAt: '2030-01-02T09:00:00Z' }),
    }),
  ];
}

function path(method: FixedPath['method'], at: string, operationId: string, summary: string, rest: Json): FixedPath {
  const description = `${summary}. Needs an email API key: Authorization: Bearer <key>.`;
  return {
    path: at,
    method,
    operation: {
      operationId,
      summary,
      description,
      tags: ['email'],
      'x-action': 'key',
      security: [{ emailKey: [] }],
      ...rest,
    },
  };
}

function body(schema: Json, values: Readonly<Record<string, unknown>>): Json {
  const examples = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
  return { requestBody: { required: true, content: { 'application/json': { schema, examples } } } };
}

function answer(status: number, schema: Json, example: unknown): Json {
  return { responses: { [status]: { description: 'Done', content: { 'application/json': { schema, example } } } } };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

/** A route of the OpenAPI document that is not an operation of the catalogue. */
export interface FixedPath {
  path: string;
  method: 'get' | 'post' | 'put' | 'delete';
  /** OpenAPI operation object without the common refusals. */
  operation: Record<string, unknown>;
}
