import { z } from 'zod';
import { EVENT_EXPLANATIONS } from '../webhooks/event-body.ts';
import { InboundEvent, OutboundEvent } from '../webhooks/event-schemas.ts';
import { OUTBOUND_TYPES } from '../webhooks/event-types.ts';

type Json = Record<string, unknown>;

const ATTACHMENT: InboundEvent['message']['attachments'][number] = {
  id: 'att_7_2',
  filename: 'plan.pdf',
  contentType: 'application/pdf',
  size: 48_213,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  contentId: null,
  inline: false,
  url: 'https://mail.example.com/api/email/attachments/att_7_2?expires=1893488400&signature=...',
};
const ARRIVED: InboundEvent = {
  type: 'email.inbound',
  mailbox: 'support@example.com',
  message: {
    from: 'Anna <anna@example.org>',
    to: 'support@example.com',
    cc: '',
    subject: 'A question',
    text: 'Hello',
    html: '<p>Hello</p>',
    messageId: '<1@example.org>',
    receivedAt: '2030-01-01T09:00:00.000Z',
    attachments: [ATTACHMENT],
  },
  trust: {
    auth: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
    alignedFrom: true,
    knownSender: false,
    verdict: 'clear',
    flags: [],
    externalSender: true,
  },
};
const BOUNCED: OutboundEvent = {
  id: 'whd_1',
  type: 'email.bounced',
  createdAt: '2030-01-01T09:00:00.000Z',
  data: {
    emailId: 'eml_1',
    trace: '0c8f2d1a',
    messageId: '<2@example.com>',
    from: 'orders@example.com',
    to: ['gone@example.org'],
    subject: 'Your order',
    tags: { kind: 'order' },
    smtpCode: 550,
    enhancedCode: '5.1.1',
    host: 'mx.example.org',
    text: 'No such user',
    explanation: `${EVENT_EXPLANATIONS['email.bounced']} The address does not exist: stop sending to it.`,
  },
};

/** Webhook requests that this server sends. OpenAPI 3.1, `webhooks`. */
export function webhookEvents(): Json {
  const inbound = posted('email.inbound', 'A message arrived in a mailbox, Junk included.', {
    schema: { $ref: '#/components/schemas/inbound_event' },
    example: ARRIVED,
  });
  const outbound = OUTBOUND_TYPES.map((type) => {
    const own = { type: 'object', properties: { type: { const: type } } };
    const schema = { allOf: [{ $ref: '#/components/schemas/outbound_event' }, own] };
    return posted(type, EVENT_EXPLANATIONS[type], { schema, ...(type === BOUNCED.type && { example: BOUNCED }) });
  });
  return Object.fromEntries([inbound, ...outbound]);
}

/** The bodies, for the components of the document. */
export function eventSchemas(): Json {
  return { inbound_event: plain(InboundEvent), outbound_event: plain(OutboundEvent) };
}

function posted(type: string, meaning: string, body: Json): [string, Json] {
  const post = {
    operationId: `told_${type.replace('.', '_')}`,
    summary: meaning,
    description: `${meaning} Delivered at least once: deduplicate by webhook-id.`,
    tags: ['email'],
    security: [],
    parameters: HEADERS,
    requestBody: { required: true, content: { 'application/json': body } },
    responses: {
      '2XX': { description: 'Accepted. Respond within 10 seconds, then process.' },
      default: { description: 'Not accepted: retried for about 32 hours. Redirects are not followed.' },
    },
  };
  return [type, { post }];
}

const HEADERS = [
  header(
    'x-service-signature',
    '^sha256=[0-9a-f]{64}$',
    'HMAC-SHA256 of the octets of the body, in hexadecimal, keyed with the signing secret as it was shown (whsec_ and all).',
  ),
  header('webhook-id', '^whd_[0-9]+$', 'Id of the event, the same for every attempt.'),
  header('webhook-timestamp', '^[0-9]+$', 'Time of the signature, in seconds since 1970: refuse old requests.'),
  header(
    'webhook-signature',
    '^v1,[A-Za-z0-9+/]{43}=$',
    'Standard Webhooks: HMAC-SHA256 of webhook-id, a dot, webhook-timestamp, a dot and the body, in base64, keyed with the secret after whsec_, decoded from base64.',
  ),
];

function header(name: string, pattern: string, description: string): Json {
  return { name, in: 'header', required: true, description, schema: { type: 'string', pattern } };
}

function plain(schema: z.ZodType): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema);
  return rest;
}
