import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { OutboundEvent } from '../../src/webhooks/event-schemas.ts';
import type { Box } from '../support/box.ts';
import { http, tool } from '../support/mcp.ts';
import { type Owned, portalBox } from '../support/visitor.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

let box: Box;
let base: string;
let acme: Owned;
let other: Owned;
let receiver: WebhookReceiver<OutboundEvent>;
let url: string;

beforeAll(async () => {
  receiver = await new WebhookReceiver<OutboundEvent>().open();
  ({ url } = receiver);
  ({ box, base, acme, other } = await portalBox());
  for (const [owned, domain] of [
    [acme, 'hooks-acme.test'],
    [other, 'hooks-other.test'],
  ] as const) {
    await ask('add_email_domain', { domain }, owned);
    await ask('verify_email_domain', { domain }, owned);
    await ask('provision_email', { domain, localPart: 'inbox' }, owned);
  }
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  receiver[Symbol.dispose]();
});
beforeEach(() => receiver.discard());

async function ask(name: string, args: object, owned = acme): Promise<Record<string, unknown>> {
  const { status, body, text } = await tool(base, name, args, owned.token);
  if (status >= 300) throw new Error(text);
  return body;
}

async function send(domain: string, to: string[], owned = acme): Promise<string> {
  const key = String((await ask('create_email_api_key', { name: 'app' }, owned))['secret']);
  const mail = { from: `orders@${domain}`, to, subject: 'Your order', text: 'Thank you', tags: { kind: 'order' } };
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const said = await http('POST', `${base}/api/email/send`, headers, JSON.stringify(mail));
  if (said.status !== 202) throw new Error(said.text);
  return String(said.json?.['id']);
}

const types = () => receiver.told.map(({ event }) => event.type);
const arrived = (n: number) => expect.poll(() => receiver.told.length, { timeout: 60_000, interval: 30 }).toBe(n);

test('an organization hears what becomes of its mail, in order and signed, and of no other’s', async () => {
  const { signingSecret } = await ask('create_webhook', { url });
  await ask('add_suppression', { address: 'gone@elsewhere.example' });
  await send('hooks-other.test', ['inbox@hooks-other.test'], other);
  const id = await send('hooks-acme.test', ['inbox@hooks-acme.test', 'gone@elsewhere.example']);
  await arrived(3);
  expect(types()).toEqual(['email.queued', 'email.delivered', 'email.suppressed']);
  const [queued, delivered, suppressed] = receiver.told.map(({ event }) => event);
  expect(queued).toMatchObject({
    id: receiver.told[0]?.headers['webhook-id'],
    data: {
      emailId: id,
      messageId: expect.stringMatching(/^<.+@hooks-acme\.test>$/) as string,
      from: 'orders@hooks-acme.test',
      to: ['inbox@hooks-acme.test'],
      subject: 'Your order',
      tags: { kind: 'order' },
      smtpCode: null,
    },
  });
  expect(delivered?.data).toMatchObject({ emailId: id, to: ['inbox@hooks-acme.test'], enhancedCode: '2.0.0' });
  expect(suppressed?.data).toMatchObject({ to: ['gone@elsewhere.example'], text: 'manual' });
  for (const { headers, body } of receiver.told) {
    const plain = createHmac('sha256', String(signingSecret)).update(body).digest('hex');
    expect(headers['x-service-signature']).toBe(`sha256=${plain}`);
  }
});

test('of the events that were asked for only; the test event says how it went', async () => {
  const { webhooks } = (await ask('list_webhooks', {})) as { webhooks: { id: string }[] };
  const webhookId = webhooks[0]?.id ?? '';
  await ask('update_webhook', { webhookId, events: ['email.delivered'] });
  await send('hooks-acme.test', ['inbox@hooks-acme.test']);
  await arrived(1);
  expect(types()).toEqual(['email.delivered']);
  expect(await ask('test_webhook', { webhookId })).toMatchObject({ status: 'told', httpStatus: 200, problem: null });
  expect(types()).toEqual(['email.delivered', 'webhook.test']);
  const { deliveries } = (await ask('list_webhook_deliveries', { webhookId, limit: 5 })) as {
    deliveries: { type: string; outcome: string; untrusted: { response: string }; request: string }[];
  };
  expect(deliveries.slice(0, 2).map((one) => [one.type, one.outcome, one.untrusted.response])).toEqual([
    ['webhook.test', 'told', 'thanks'],
    ['email.delivered', 'told', 'thanks'],
  ]);
});

test('a range is reported again under new ids', async () => {
  const { webhooks } = (await ask('list_webhooks', {})) as { webhooks: { id: string }[] };
  const webhookId = webhooks[0]?.id ?? '';
  const again = await ask('replay_webhook_deliveries', { webhookId, since: '2020-01-01T00:00:00Z' });
  expect(again).toEqual({ replayed: 5, complete: true, next: null });
  await arrived(5);
  expect(types()).toEqual(['email.queued', 'email.delivered', 'email.suppressed', 'email.delivered', 'webhook.test']);
});

test('the portal adds one, shows its history, rotates its secret and removes it', async () => {
  const path = `${acme.path}/webhooks`;
  const made = await acme.owner.act(path, 'create', { url, events: ['email.queued', 'email.bounced'] });
  expect(made.text).toMatch(/aria-label="Signing secret">whsec_[A-Za-z0-9+/=]+</);
  const id = [...(await acme.owner.get(path)).text.matchAll(/webhooks\/(whk_\d+)"/g)].at(-1)?.[1] ?? '';
  const page = `${path}/${id}`;
  await send('hooks-acme.test', ['inbox@hooks-acme.test']);
  // The other webhook hears of it as well.
  await arrived(2);
  await expect
    .poll(async () => (await acme.owner.get(page)).text, { timeout: 60_000 })
    .toContain('email.queued</code>');
  expect((await acme.owner.act(page, 'test', {})).status).toBe(303);
  expect(types()).toContain('webhook.test');
  expect((await acme.owner.act(page, 'rotate', {})).text).toMatch(/aria-label="Signing secret">whsec_/);
  expect((await other.owner.get(`${other.path}/webhooks/${id}`)).status).toBe(404);
  expect((await acme.owner.act(page, 'remove', {})).status).toBe(303);
  expect((await acme.owner.get(page)).status).toBe(404);
});
