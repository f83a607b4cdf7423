import { createHmac } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Box } from '../support/box.ts';
import { http, organizationBox, tool } from '../support/mcp.ts';
import { type Received, WebhookReceiver } from '../support/webhook-receiver.ts';

interface Inbound {
  type: string;
  mailbox: string;
  message: Record<string, unknown>;
}

let box: Box;
let base: string;
let token: string;
let receiver: WebhookReceiver<Inbound>;
let secret: string;

beforeAll(async () => {
  receiver = await new WebhookReceiver<Inbound>().open();
  ({ box, base, token } = await organizationBox('Listeners'));
  await ask('add_email_domain', { domain: 'hook.test' });
  await ask('verify_email_domain', { domain: 'hook.test' });
  await ask('provision_email', { domain: 'hook.test', localPart: 'in' });
  secret = await hook();
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  receiver[Symbol.dispose]();
});
beforeEach(() => receiver.discard());

async function ask(name: string, args: object): Promise<Record<string, unknown>> {
  const { status, body, text } = await tool(base, name, args, token);
  if (status >= 300) throw new Error(text);
  return body;
}

async function hook(): Promise<string> {
  const { url } = receiver;
  return String((await ask('set_email_inbound_webhook', { address: 'in@hook.test', url }))['signingSecret']);
}

async function deliver(more: object = {}): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const from = 'Jürgen <friend@elsewhere.example>';
  await transport.sendMail({ from, to: 'in@hook.test', subject: 'Grüße', text: 'Hallo', ...more });
}

const arrived = (n: number) => expect.poll(() => receiver.told.length, { timeout: 60_000, interval: 50 }).toBe(n);

test('reports a message as the interface says, signed over its octets', async () => {
  await deliver({
    cc: 'copy@elsewhere.example',
    html: '<p>Hallo</p>',
    attachments: [{ filename: '../Plan ü.txt', content: 'the plan' }],
  });
  await arrived(1);
  const [{ headers, body, event } = receiver.told[0] as Received<Inbound>] = receiver.told;
  expect(event).toMatchObject({
    type: 'email.inbound',
    mailbox: 'in@hook.test',
    message: {
      from: 'Jürgen <friend@elsewhere.example>',
      to: 'in@hook.test',
      cc: 'copy@elsewhere.example',
      subject: 'Grüße',
      text: expect.stringContaining('Hallo') as string,
      html: expect.stringContaining('<p>Hallo</p>') as string,
      messageId: expect.stringMatching(/^<.+@.+>$/) as string,
      receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
      attachments: [{ filename: expect.not.stringMatching(/[\\/]/) as string, contentType: 'text/plain', size: 8 }],
    },
  });
  const plain = createHmac('sha256', secret).update(body).digest('hex');
  expect(headers['x-service-signature']).toBe(`sha256=${plain}`);
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const id = String(headers['webhook-id']);
  const standard = createHmac('sha256', key)
    .update(`${id}.${String(headers['webhook-timestamp'])}.`)
    .update(body);
  expect(headers['webhook-signature']).toBe(`v1,${standard.digest('base64')}`);
});

test('an attachment is there for who has its link, as it is, and for nobody with another one', async () => {
  await deliver({ attachments: [{ filename: 'a.html', content: '<script>alert(1)</script>' }] });
  await arrived(1);
  const [one] = receiver.told;
  const url = (one?.event.message['attachments'] as { url: string }[] | undefined)?.[0]?.url ?? '';
  const said = await http('GET', url);
  expect(said.text).toBe('<script>alert(1)</script>');
  expect(said.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    'content-disposition': expect.stringMatching(/^attachment/) as string,
  });
  for (const wrong of [
    url.replace(/signature=./, 'signature='),
    url.replace(/expires=\d/, 'expires=9'),
    url.replace('att_', 'att_1'),
  ]) {
    expect((await http('GET', wrong)).status).toBe(404);
  }
});

test('a refusal and a redirect are tried again, under the same id, and what came later waits its turn', async () => {
  receiver.answers = [500, 302];
  await deliver({ subject: 'first' });
  await deliver({ subject: 'second' });
  await expect
    .poll(() => receiver.told.map(({ event }) => event.message['subject']), { timeout: 60_000, interval: 200 })
    .toEqual(['first', 'first', 'first', 'second']);
  expect(new Set(receiver.told.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
  const written = async () =>
    (
      (await ask('list_webhook_deliveries', { address: 'in@hook.test', limit: 4 })) as {
        deliveries: { httpStatus: number; problem: string | null }[];
      }
    ).deliveries;
  // A delivery is recorded after the receiver has answered.
  await expect
    .poll(async () => (await written()).map((one) => one.httpStatus), { timeout: 60_000 })
    .toEqual([200, 200, 302, 500]);
  expect((await written())[2]?.problem).toContain('redirects');
}, 180_000);

test('what was accepted is reported after a kill', async () => {
  receiver.answers = [500];
  await deliver({ subject: 'before the crash' });
  await arrived(1);
  await box.kill();
  await box.start();
  await expect.poll(() => receiver.told.length, { timeout: 60_000, interval: 100 }).toBeGreaterThan(1);
  expect(receiver.told.at(-1)?.event.message['subject']).toBe('before the crash');
});

test('the newest message tests it, one of the past is reported again, and a rotated secret signs at once', async () => {
  const old = secret;
  secret = await hook();
  await ask('test_inbound_webhook', { address: 'in@hook.test' });
  await arrived(1);
  const [one] = receiver.told;
  const signed = (by: string) =>
    `sha256=${createHmac('sha256', by)
      .update(one?.body ?? '')
      .digest('hex')}`;
  expect(one?.headers['x-service-signature']).toBe(signed(secret));
  expect(one?.headers['x-service-signature']).not.toBe(signed(old));
  const { deliveries } = (await ask('list_webhook_deliveries', { address: 'in@hook.test', limit: 1 })) as {
    deliveries: [{ messageId: string }];
  };
  await ask('replay_webhook_delivery', { address: 'in@hook.test', messageId: deliveries[0].messageId });
  await arrived(2);
});

test('a webhook that was removed hears nothing more, and the mail is there all the same', async () => {
  await ask('remove_email_inbound_webhook', { address: 'in@hook.test' });
  await deliver({ subject: 'quiet' });
  await hook();
  await deliver({ subject: 'loud' });
  await arrived(1);
  expect(receiver.told[0]?.event.message['subject']).toBe('loud');
});
