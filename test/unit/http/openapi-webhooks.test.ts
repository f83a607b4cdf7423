import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { describe, expect, test } from 'vitest';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { unpackParts } from '../../../mail/message/parts.ts';
import type { WebhookEvent } from '../../../mail/store/notification/webhook-event.ts';
import { openApi } from '../../../src/http/openapi.ts';
import { outboundBody } from '../../../src/webhooks/event-body.ts';
import { EVENT_TYPES } from '../../../src/webhooks/event-types.ts';
import { inboundBody } from '../../../src/webhooks/payload.ts';
import { webhookSignatureHeaders } from '../../../src/webhooks/sign.ts';

type Json = Record<string, unknown>;
interface Posted {
  operationId: string;
  security: Json[];
  parameters: { name: string; in: string; required: boolean; schema: { pattern: string } }[];
  requestBody: { content: Record<string, { schema: Json; example?: Json }> };
}

const document = openApi([], 'https://box.test') as unknown as {
  webhooks: Record<string, { post: Posted }>;
  components: { schemas: Record<string, Json> };
};
const links = { baseUrl: 'https://box.test', key: Buffer.alloc(32, 1), now: 0 };
const { schemas } = document.components;

/** The schema of a body, which stands for itself. */
function bodyOf(type: string): { schema: Json; example?: Json } {
  const body = document.webhooks[type]?.post.requestBody.content['application/json'];
  if (body === undefined) throw new Error(`there is no ${type}`);
  const whole = JSON.stringify(body.schema).replaceAll('#/components/schemas/', '#/$defs/');
  return { ...body, schema: { ...(JSON.parse(whole) as Json), $defs: schemas } };
}

const fits = (type: string, value: unknown) => new AjvJsonSchemaValidator().getValidator(bodyOf(type).schema)(value);

function arrived(message: string, length = message.length): unknown {
  const bytes = Buffer.from(message);
  const parts = unpackParts(indexMessage(bytes).parts);
  const body = inboundBody(
    'me@box.test',
    7,
    { blob: 1, redactedFrom: null, length, receivedAt: 0, parts, trust: null },
    bytes,
    links,
  );
  return JSON.parse(body.toString());
}

function happened(event: string, detail: Json, sent: boolean): unknown {
  const notice: WebhookEvent = {
    id: 1,
    event,
    account: 1,
    email: null,
    trace: 't',
    detail,
    at: 0,
    attempts: 0,
    size: 0,
  };
  const about = { id: 3, subject: 'Your order', tags: { kind: 'order' } };
  const facts = { sent: sent ? about : null, messageId: '<1@box.test>', from: 'me@box.test', project: null };
  return JSON.parse(outboundBody(notice, facts).toString());
}

test('every event that is posted is there, once, without a credential', () => {
  expect(Object.keys(document.webhooks)).toEqual(['email.inbound', ...EVENT_TYPES, 'webhook.test']);
  const posts = Object.values(document.webhooks).map(({ post }) => post);
  expect(new Set(posts.map((post) => post.operationId)).size).toBe(posts.length);
  expect(posts.flatMap((post) => post.security)).toEqual([]);
});

test('the headers are those that are sent', () => {
  const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  const sent = Object.entries(
    webhookSignatureHeaders(secret, Buffer.from('{}'), { id: 'whd_1', at: 1_700_000_000_000 }),
  );
  for (const { post } of Object.values(document.webhooks)) {
    expect(post.parameters.map(({ name }) => name)).toEqual(sent.map(([name]) => name));
    for (const [at, [, value]] of sent.entries()) {
      expect(post.parameters[at]).toMatchObject({ in: 'header', required: true });
      expect(value).toMatch(new RegExp(post.parameters[at]?.schema.pattern ?? '^never$'));
    }
  }
});

describe('the schema of a body', () => {
  test.each([
    ['of an empty message', '\r\n'],
    [
      'with an attachment',
      'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhello\r\n--b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\n1\r\n--b--\r\n',
    ],
    ['that was cut', `Subject: long\r\n\r\n${'0123456789'.repeat(600_000)}\r\n`],
  ])('holds what arrived: %s', (_name, message) => {
    const event = arrived(message) as Json;
    expect(fits('email.inbound', event)).toMatchObject({ valid: true });
    expect(fits('email.inbound', { ...event, more: 1 }).valid).toBe(false);
    expect(fits('email.inbound', { ...event, mailbox: undefined }).valid).toBe(false);
  });

  test.each([
    ['submitted', 'email.queued', { to: ['a@x.example', 'b@x.example'] }],
    ['delivered', 'email.delivered', { to: 'a@x.example', code: 250, status: '2.0.0', host: 'mx', text: 'Ok' }],
    ['deferred', 'email.deferred', { to: 'a@x.example' }],
    ['failed', 'email.bounced', { to: 'a@x.example', code: 550, status: '5.1.1', host: 'mx', text: 'No' }],
    ['complained', 'email.complained', { to: 'a@x.example' }],
    ['suppressed', 'email.suppressed', { to: 'a@x.example' }],
    ['test', 'webhook.test', {}],
  ])('holds what is reported of %s', (event, type, detail) => {
    for (const sent of [true, false]) {
      const told = happened(event, detail, sent);
      expect(fits(type, told)).toMatchObject({ valid: true });
      expect(fits(type === 'webhook.test' ? 'email.queued' : 'webhook.test', told).valid).toBe(false);
    }
  });

  test('holds the examples', () => {
    const examples = Object.keys(document.webhooks).flatMap((type) => {
      const { example } = bodyOf(type);
      return example === undefined ? [] : [[type, fits(type, example).valid]];
    });
    expect(examples).toEqual([
      ['email.inbound', true],
      ['email.bounced', true],
    ]);
  });
});
