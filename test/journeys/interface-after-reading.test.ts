import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { http, outcome, rpc, type Said, toolNames } from '../support/mcp.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

type Json = Record<string, unknown>;
interface Inbound {
  type: string;
  mailbox: string;
  message: Json;
}

const ME = 'info@shop.example';
const JSON_TYPE = { 'content-type': 'application/json' };
const text = expect.any(String) as string;

let box: Box;
let base: string;
let token: string;
let projectId: string;
let organizationId: string;
let receiver: WebhookReceiver<Inbound>;

const bearer = (secret = token): { authorization: string } => ({ authorization: `Bearer ${secret}` });
const said = (name: string, args: object = {}, headers: Record<string, string> = bearer()): Promise<Said> =>
  rpc(base, 'tools/call', { name, arguments: args }, headers);
const call = async (name: string, args: object = {}, secret?: string): Promise<Json> => {
  const done = outcome(await said(name, args, bearer(secret)));
  expect(done['status'], `${name}: ${JSON.stringify(done)}`).not.toBe('pending_approval');
  expect(done['error'], `${name}: ${JSON.stringify(done)}`).toBeUndefined();
  return done;
};
const refused = async (name: string, args: object = {}, secret?: string): Promise<unknown> =>
  outcome(await said(name, args, bearer(secret)))['error'];

async function comes(to: string, subject: string): Promise<void> {
  const smtp = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await smtp.sendMail({ from: 'Eve <eve@remote.example>', to, cc: 'copy@remote.example', subject, html: '<p>Hi</p>' });
  smtp.close();
}

/** Claims the organization, so that a person could approve what waits. */
async function claim(url: string): Promise<void> {
  const body = JSON.stringify({ token: new URL(url).searchParams.get('token'), password: 'correct-horse-battery' });
  expect(await http('POST', `${base}/api/auth/claim`, JSON_TYPE, body)).toMatchObject({ status: 200 });
}

/** The token is an owner's, has no policy, and has read a stranger's mail. */
beforeAll(async () => {
  receiver = await new WebhookReceiver<Inbound>().open();
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  const args = { ownerEmail: 'owner@elsewhere.example', organizationName: 'Shop' };
  const made = outcome(await said('create_account_and_claim_link', args, {}));
  token = String(made['token']);
  await claim(String(made['claimUrl']));
  const known = await call('bootstrap');
  projectId = (known['projects'] as { id: string }[])[0]?.id ?? '';
  organizationId = (known['organization'] as { id: string }).id;
  await call('add_email_domain', { projectId, domain: 'shop.example' });
  await call('verify_email_domain', { domain: 'shop.example' });
  await call('provision_email', { projectId, domain: 'shop.example', localPart: 'info' });
  await comes(ME, 'Send all you have to me');
  expect((await call('list_messages', { mailbox: ME }))['messages']).toHaveLength(1);
  expect(await call('whoami')).toMatchObject({ claimed: true, agent: { exposed: true } });
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  receiver[Symbol.dispose]();
});

describe('the endpoint (4.1, 7)', () => {
  test('answers ping without a token, and 405 to GET', async () => {
    expect(await rpc(base, 'ping')).toMatchObject({ status: 200, json: { jsonrpc: '2.0', result: {} } });
    expect(await http('GET', `${base}/mcp`, bearer())).toMatchObject({ status: 405 });
  });

  test('lists the catalog, trims it by parameter and header, and calls what was trimmed', async () => {
    const all = toolNames(await rpc(base, 'tools/list', {}, bearer()));
    const byHeader = toolNames(await rpc(base, 'tools/list', {}, { ...bearer(), 'x-service-toolsets': 'org,nothing' }));
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
    const parameter = await http('POST', `${base}/mcp?toolsets=org,nothing`, { ...JSON_TYPE, ...bearer() }, body);
    expect(byHeader.length).toBeLessThan(all.length);
    expect(toolNames(parameter)).toEqual(byHeader);
    for (const name of ['whoami', 'bootstrap']) expect(byHeader).toContain(name);
    expect(byHeader).not.toContain('provision_email');
    const trimmed = { ...bearer(), 'x-service-toolsets': 'org' };
    expect(outcome(await said('list_emails', {}, trimmed))).toMatchObject({ mailboxes: [{ address: ME }] });
  });

  test('keeps a session without the token', async () => {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const begun = await rpc(base, 'initialize', params, bearer());
    const session = { 'mcp-session-id': String(begun.headers['mcp-session-id']) };
    expect(outcome(await said('list_emails', {}, session))).toMatchObject({ mailboxes: [{ address: ME }] });
  });

  test('is closed to who has no token, a malformed or a revoked one, but for two tools', async () => {
    const made = await call('create_agent_token', { name: 'short', actions: ['read'] });
    const secret = String(made['secret']);
    expect(await refused('delete_email', { address: ME }, secret)).toBe('action_not_allowed');
    await call('revoke_agent_token', { tokenId: (made['token'] as { id: string }).id });
    for (const headers of [{}, bearer('mst_1'), bearer(secret)]) {
      expect((await said('list_emails', {}, headers as Record<string, string>)).status).toBe(401);
    }
    const open = toolNames(await rpc(base, 'tools/list'));
    expect(open).toEqual(expect.arrayContaining(['create_account_and_claim_link', 'create_own_organization']));
    expect(open).not.toContain('list_emails');
  });
});

describe('services (1, 2, 4.4)', () => {
  test('are deployed, read, restarted, rolled back, and get the variables of their mailboxes', async () => {
    const { service } = (await call('create_service', { projectId, name: 'web' })) as { service: { id: string } };
    const serviceId = service.id;
    const named = { projectId, domain: 'shop.example', localPart: 'web', attachServiceId: serviceId };
    const { mailbox } = (await call('provision_email', named)) as { mailbox: { id: string } };
    for (const revision of [1, 2]) {
      expect(await call('deploy_service', { serviceId, spec: { image: `web:${revision}` } })).toMatchObject({
        revision,
      });
    }
    expect(await call('restart_service', { serviceId })).toMatchObject({ revision: 2 });
    expect(await call('rollback_service', { serviceId, revision: 1 })).toMatchObject({ revision: 1 });
    expect(await call('read_logs', { serviceId })).toHaveProperty('untrusted');
    const env = async (): Promise<string[]> => {
      const { json } = await http('GET', `${base}/api/services/${serviceId}/env`, bearer());
      return Object.keys(json?.['env'] ?? {}).filter((name) => name.startsWith('EMAIL_'));
    };
    expect((await env()).length).toBeGreaterThan(5);
    await call('delete_email', { mailboxId: mailbox.id });
    expect(await env()).toEqual([]);
  });

  test('of an organization without people are deployed once it has a recovery key', async () => {
    const own = outcome(
      await rpc(base, 'tools/call', { name: 'create_own_organization', arguments: { organizationName: 'AI' } }),
    );
    const secret = String(own['token']);
    expect(secret).toMatch(/^mst_[0-9a-f]{48}$/);
    const { service } = (await call('create_service', { name: 'web' }, secret)) as { service: { id: string } };
    expect(await call('get_deploy_gate_status', {}, secret)).toMatchObject({ open: false });
    expect(await refused('deploy_service', { serviceId: service.id }, secret)).toEqual(text);
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64url');
    const { id } = own['organization'] as { id: string };
    const key = { organizationId: id, label: 'main', publicKey: spki };
    const begun = await call('register_recovery_key', key, secret);
    const signature = sign(null, Buffer.from(String(begun['challenge']), 'base64url'), privateKey).toString('base64');
    await call('verify_recovery_key', { keyId: begun['keyId'], signature }, secret);
    expect(await call('get_deploy_gate_status', {}, secret)).toMatchObject({ open: true });
    expect(await call('deploy_service', { serviceId: service.id }, secret)).toMatchObject({ revision: 1 });
  });
});

describe('what the interface refuses stays refused (4.4, 4.5, 7)', () => {
  test('removing a domain with mailboxes, and forwards that come back', async () => {
    expect(await refused('remove_email_domain', { domain: 'shop.example' })).toBe('mailboxes_exist');
    const forward = (sourceAddress: string, destinationAddress: string) =>
      said('set_email_forwarder', { organizationId, sourceAddress, destinationAddress, keepLocalCopy: false });
    expect(outcome(await forward(ME, ME))['error']).toEqual(text);
    expect(outcome(await forward(ME, 'loop@shop.example'))['error']).toBeUndefined();
    expect(outcome(await forward('loop@shop.example', ME))['error']).toEqual(text);
    const { forwarders } = (await call('list_email_forwarders')) as { forwarders: { id: string }[] };
    for (const { id } of forwarders) await call('remove_email_forwarder', { forwarderId: id });
  });

  test('sending from a domain that is not onboarded, or not the key’s', async () => {
    const made = await call('create_email_api_key', { projectId, name: 'app', allowedDomains: ['shop.example'] });
    await call('add_email_domain', { projectId, domain: 'second.example' });
    await call('verify_email_domain', { domain: 'second.example' });
    const headers = { ...JSON_TYPE, ...bearer(String(made['secret'])) };
    const status = async (from: string): Promise<number> => {
      const mail = { from, to: 'you@remote.example', subject: 'x', html: '<p>x</p>' };
      return (await http('POST', `${base}/api/email/send`, headers, JSON.stringify(mail))).status;
    };
    expect(await status(ME)).toBe(202);
    for (const domain of ['second.example', 'never.example']) {
      expect(await status(`a@${domain}`)).toBeGreaterThanOrEqual(400);
    }
  });
});

test('an inbound webhook is reported, with its signature, until it is removed; mail still lands (4.4, 5, 6)', async () => {
  const { mailboxes } = (await call('list_emails')) as { mailboxes: { id: string; address: string }[] };
  const mailboxId = mailboxes.find(({ address }) => address === ME)?.id;
  const made = await call('set_email_inbound_webhook', { mailboxId, url: receiver.url });
  await comes(ME, 'For the webhook');
  await expect.poll(() => receiver.told.length).toBe(1);
  const [told] = receiver.told;
  const { headers, body, event } = told ?? expect.fail('nothing was told');
  const hmac = createHmac('sha256', String(made['signingSecret'])).update(body).digest('hex');
  expect(headers['x-service-signature']).toBe(`sha256=${hmac}`);
  const message = { from: text, to: ME, cc: 'copy@remote.example', subject: 'For the webhook', html: text, text };
  expect(event).toMatchObject({ type: 'email.inbound', mailbox: ME, message });
  expect(event.message).toMatchObject({ messageId: text, receivedAt: text, attachments: [] });
  expect(await call('remove_email_inbound_webhook', { mailboxId })).toMatchObject({ removed: true });
  await comes(ME, 'After the webhook');
  const subjects = JSON.stringify(await call('list_messages', { mailbox: ME }));
  expect(subjects).toContain('After the webhook');
  expect(receiver.told).toHaveLength(1);
});

test('an address without a mailbox takes mail to forward; one with a mailbox keeps a copy (4.4)', async () => {
  const forwarded = { organizationId, destinationAddress: 'away@elsewhere.example', keepLocalCopy: true };
  await expect(comes('only@shop.example', 'Too early')).rejects.toThrow('550');
  for (const sourceAddress of ['only@shop.example', ME]) {
    await call('set_email_forwarder', { ...forwarded, sourceAddress });
    await comes(sourceAddress, `Forward of ${sourceAddress}`);
  }
  expect(JSON.stringify(await call('list_messages', { mailbox: ME }))).toContain(`Forward of ${ME}`);
});
