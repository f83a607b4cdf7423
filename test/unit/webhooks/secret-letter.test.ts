import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { deliver, deliveryTrace } from '../../../mail/delivery/deliver.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { SecretLinkForms } from '../../../mail/message/secret-link.ts';
import { attachmentUrl, WHOLE } from '../../../src/webhooks/attachment-link.ts';
import { inboundWebhookBody } from '../../../src/webhooks/inbound-queries.ts';
import { webhookRoutes } from '../../../src/http/routes/webhooks.ts';
import { testAccount } from '../../support/store.ts';
import { testWorld } from '../../support/world.ts';

const TOKEN = '0f'.repeat(24);
const FORMS = new SecretLinkForms({ hosts: ['mail.box.test'], paths: ['/auth/reset'] });

test('a webhook is informed of a letter that acts for a person, and neither it nor its links say what is in it', async () => {
  await using made = await testWorld();
  const { world } = made;
  const { store } = world;
  const { account } = await testAccount(store);
  const link = `https://mail.box.test/auth/reset?token=${TOKEN}`;
  const data = Uint8Array.from(Buffer.from(`From: a@b.test\r\nSubject: A new password\r\n\r\nOpen ${link}\r\n`));
  const index = indexMessage(data, FORMS);
  const to = { account, to: 'me@box.test', trace: deliveryTrace('a@b.test', 'me@box.test') };
  const from = { ip: '192.0.2.7', helo: 'b.test' };
  const mail = { trace: 't', sender: 'a@b.test', deliveries: [to], data, file: null, index, from };
  await store.write(deliver, { ...mail, onward: [], eightBit: false, hold: null });
  const email = account * 2 ** 32 + 1;
  const links = { baseUrl: 'http://box.test', key: world.secrets.subkey('attachment links'), now: world.clock() };
  const blobs = store.files.directory;
  const told = await store.scan(inboundWebhookBody, { account, email, mailbox: 'me@box.test', blobs, links });
  const body = told.kind === 'body' ? Buffer.from(told.body).toString() : expect.fail(told.kind);
  expect(body).toContain('A new password');
  expect(body).toContain('Hidden from programs');
  expect(body).not.toContain(TOKEN);

  await using app = Fastify();
  await app.register(webhookRoutes(world));
  for (const path of [WHOLE, '1']) {
    const { pathname, search } = new URL(attachmentUrl(links, email, path));
    const said = await app.inject({ url: pathname + search });
    expect([said.statusCode, said.body.includes('Hidden from'), said.body.includes(TOKEN)]).toEqual([200, true, false]);
  }
});
