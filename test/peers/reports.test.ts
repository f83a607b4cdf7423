import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { type DnsServer, dnsServer } from '../support/dns-server.ts';
import { http, tool } from '../support/mcp.ts';
import { bouncingPostfix } from './bouncing-postfix.ts';

const ME = 'me@box.test';
const all = new AsyncDisposableStack();
let box: Box;
let dns: DnsServer;
let base: string;
let token: string;
let password: string;

beforeAll(async () => {
  dns = all.use(await dnsServer({ 'MX remote.test': ['10 mx.remote.test'], 'A mx.remote.test': ['127.0.0.1'] }));
  const postfix = all.use(await bouncingPostfix(() => box.port('smtp')));
  const settings = { RESOLVERS: dns.address, OUTBOUND_PORT: String(postfix.port), EXEMPT_NETWORKS: '127.0.0.0/8' };
  box = all.use(await startBox({ hostname: 'mail.box.test', settings }));
  base = `http://127.0.0.1:${box.port('http')}`;
  await box.ask('add_domain', { domain: 'box.test' });
  ({ password } = (await box.ask('add_mailbox', { address: ME })) as { password: string });
  const made = await box.ask('create_agent_token', { name: 'test', actions: ['read', 'manage'] });
  token = (made as { secret: string }).secret;
  await postfix.start();
});
afterAll(() => all.disposeAsync());

const suppressions = async () =>
  (await tool(base, 'list_suppressions', {}, token)).body['suppressions'] as Record<string, unknown>[];

test('Postfix takes what a program sent and then reports: the status, the list and the story know', async () => {
  const key = String((await tool(base, 'create_email_api_key', { name: 'shop' }, token)).body['secret']);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = { from: 'orders@box.test', to: 'program@remote.test', subject: 'Order', text: 'Thank you' };
  const sent = await http('POST', `${base}/api/email/send`, headers, JSON.stringify(body));
  const id = String(sent.json?.['id']);
  const status = async () => (await http('GET', `${base}/api/email/messages/${id}`, headers)).json;
  await expect.poll(async () => (await status())?.['status']).toBe('bounced');
  expect(await status()).toMatchObject({
    recipients: [
      { state: 'bounced', lastStatus: '5.1.1', lastText: expect.stringContaining('user unknown') as string },
    ],
  });
  const [listed] = await suppressions();
  expect(listed).toMatchObject({ address: 'program@remote.test', reason: 'hard_bounce' });
  const events = (await http('GET', `${base}/api/email/messages/${id}/events`, headers)).json as unknown as {
    events: { event: string }[];
  };
  expect(events.events.map(({ event }) => event)).toEqual(['submitted', 'delivered', 'failed', 'listed']);
});

test('and what a person sent: the report is in the mailbox, once', async () => {
  const tls = { rejectUnauthorized: false };
  const auth = { user: ME, pass: password };
  const transport = createTransport({ host: '127.0.0.1', port: box.port('submissions'), secure: true, auth, tls });
  await transport.sendMail({ from: ME, to: 'person@remote.test', subject: 'Hello', text: 'Are you there?' });
  transport.close();
  await expect.poll(async () => (await suppressions()).map((one) => one['address'])).toContain('person@remote.test');
  const client = new ImapFlow({ host: '127.0.0.1', port: box.port('imaps'), secure: true, auth, tls, logger: false });
  await client.connect();
  const { exists } = await client.mailboxOpen('INBOX');
  const found = await client.fetchOne('*', { source: true });
  await client.logout();
  expect(exists).toBe(1);
  const source = found === false || found === undefined ? '' : String(found.source);
  expect(source).toContain('Final-Recipient: rfc822; person@remote.test');
  expect(source).toContain('Delivered-To: me@box.test');
  expect(source).toMatch(/^To: me\+r[0-9a-z]+-[a-z2-7]{12}@box\.test/m);
});
