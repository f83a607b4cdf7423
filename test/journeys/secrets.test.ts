import { generateKeyPairSync, sign } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../src/operations/catalogue.ts';
import { type Box, startBox } from '../support/box.ts';
import { dumpOfBox } from '../support/box-database.ts';
import { http, newOrganization, outcome, rpc, tool } from '../support/mcp.ts';
import { sampleOf } from '../support/operation-samples.ts';
import { SecretsSeen } from '../support/secrets-seen.ts';
import { spki, type Things, withFile } from '../support/tenants.ts';
import { onPostgres } from '../support/test-database.ts';

const seen = new SecretsSeen();
let box: Box;
let base: string;
let token: string;
let things: Things;
const json = { 'content-type': 'application/json' };

async function call(name: string, args: object = {}): Promise<Record<string, unknown>> {
  const said = await tool(base, name, args, token);
  if (said.status >= 300) throw new Error(`${name}: ${said.text}`);
  return said.body;
}

const idOf = (body: Record<string, unknown>, of: string): string => (body[of] as { id: string }).id;

beforeAll(async () => {
  box = await startBox({
    settings: { EXEMPT_NETWORKS: '127.0.0.0/8', LOG_LEVEL: 'debug', ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' },
  });
  base = `http://127.0.0.1:${box.port('http')}`;
  const made = await newOrganization(base, 'Secretive');
  token = seen.add('the first token', made.token);
  things = await useEverything(made.id);
  await stumble();
});
afterAll(() => box[Symbol.asyncDispose]());

/** Every operation that shows or takes a secret, over REST and MCP. */
async function useEverything(organizationId: string): Promise<Things> {
  const claimed = await tool(base, 'create_account_and_claim_link', {
    ownerEmail: 'x@people.test',
    organizationName: 'C',
  });
  seen.add('a claim link', String(claimed.body['claimUrl']).split('token=')[1]);
  seen.add('a claimed organization’s token', claimed.body['token']);
  const keys = generateKeyPairSync('ed25519');
  const pending = await call('register_recovery_key', { label: 'one', publicKey: spki(keys.publicKey) });
  const challenge = Buffer.from(String(pending['challenge']), 'base64url');
  const signature = seen.add('a signature', sign(null, challenge, keys.privateKey).toString('base64'));
  const activeKeyId = String(pending['keyId']);
  await call('verify_recovery_key', { keyId: activeKeyId, signature });
  const domainId = idOf(await call('add_email_domain', { domain: 'secretive.test' }), 'domain');
  await call('verify_email_domain', { domainId });
  const mailboxId = idOf(await call('provision_email', { domainId, localPart: 'anna' }), 'mailbox');
  seen.add('a generated password', passwordIn(await call('reveal_email_credentials', { mailboxId })));
  const given = seen.add('a given password', 'given-Horse-battery-7731');
  await call('rotate_email_credentials', { mailboxId, password: given });
  seen.add('a rotated password', (await call('rotate_email_credentials', { mailboxId, reveal: true }))['password']);
  const revealed = await call('reveal_email_credentials', { mailboxId, reason: 'to log in' });
  seen.add('a JMAP token', (revealed['jmap'] as { token: string }).token);
  const app = await call('create_app_password', { mailboxId, name: 'phone' });
  seen.add('an app password', app['password']);
  const url = `https://127.0.0.1:9443/${seen.add('a path of a hook', 'hook-path-8f3a91c2e4')}`;
  seen.add(
    'a signing secret',
    String((await call('set_email_inbound_webhook', { mailboxId, url }))['signingSecret']).slice(6),
  );
  const hook = await call('create_webhook', { url });
  seen.add('a signing secret of the organization', String(hook['signingSecret']).slice(6));
  const key = await call('create_email_api_key', { name: 'sender' });
  seen.add('an API key', key['secret']);
  const agent = await call('create_agent_token', { name: 'agent', actions: ['read'] });
  seen.add('an agent’s token', agent['secret']);
  const serviceId = idOf(await call('create_service', { name: 'shop' }), 'service');
  const env = { STRIPE_KEY: seen.add('a variable', 'sk_live_51Hc9Qd0TestOnly77') };
  await call('deploy_service', { serviceId, env });
  await call('attach_email_to_service', { mailboxId, serviceId });
  await http('GET', `${base}/api/services/${serviceId}/env`, { authorization: `Bearer ${token}` });
  const forward = { sourceAddress: 'info@secretive.test', destinationAddress: 'info@else.example' };
  const smarthostLogin = {
    username: 'relay',
    password: seen.add('a password of a smarthost', 'smart-Horse-battery-4410'),
  };
  const route = await call('set_outbound_route', {
    host: '127.0.0.1',
    receiverDomain: 'else.example',
    ...smarthostLogin,
  });
  const session = await rpc(
    base,
    'tools/call',
    { name: 'whoami', arguments: {} },
    { authorization: `Bearer ${token}` },
  );
  seen.add('a session', session.headers['mcp-session-id']);
  const byMcp = await rpc(base, 'tools/call', {
    name: 'create_own_organization',
    arguments: { organizationName: 'By MCP' },
  });
  seen.add('a token by MCP', outcome(byMcp)['token']);
  const back = await recover(organizationId, activeKeyId, keys.privateKey);
  token = seen.add('a token after recovery', back);
  await login('anna@secretive.test', String(app['password']), withFile('main'));
  await login('anna@secretive.test', seen.add('a wrong password', 'wrong-Horse-battery-1954')).catch(() => undefined);
  await submit('anna@secretive.test', String(app['password']));
  await call('send_email', {
    from: 'anna@secretive.test',
    to: 'to@secretive.example',
    subject: 'known',
    text: 'known',
  });
  const draft = await call('create_draft', {
    mailbox: mailboxId,
    to: 'draft@else.example',
    subject: 'draft',
    text: 'draft',
  });
  const later = await call('send_email', {
    from: 'anna@secretive.test',
    to: 'later@else.example',
    subject: 'later',
    text: 'later',
    sendAt: new Date(Date.now() + 3_600_000).toISOString(),
  });
  const template = await call('create_email_template', { name: 'hello', subject: 'hello', text: 'hello' });
  const alias = await call('create_alias', { mailboxIds: [mailboxId], localPart: 'shop' });
  const rule = await call('add_sender_rule', { mailboxId, kind: 'block', pattern: 'blocked.example' });
  const { items } = (await call('list_queue')) as { items: { queueId: string }[] };
  const queueId = items[0]?.queueId ?? '';
  return {
    ...forward,
    organizationId,
    slug: 'secretive',
    activeKeyId,
    domainId,
    mailboxId,
    serviceId,
    deletedMailboxId: '',
    deletedServiceId: '',
    projectId: (((await call('list_projects'))['projects'] as { id: string }[])[0] as { id: string }).id,
    domain: 'secretive.test',
    address: 'anna@secretive.test',
    apiKeyId: idOf(key, 'key'),
    importId: ((await call('start_import', { mailboxId }))['import'] as { importId: string }).importId,
    aliasId: idOf(alias, 'alias'),
    ruleId: idOf(rule, 'rule'),
    policyId: 'pol_1',
    forwarderId: idOf(await call('set_email_forwarder', forward), 'forwarder'),
    routeId: (route['route'] as { routeId: string }).routeId,
    webhookId: idOf(hook, 'webhook'),
    queueId,
    heldId: queueId,
    sentId: String(later['id']),
    draftId: idOf(draft, 'draft'),
    outboxId: String(later['outboxId']),
    templateId: idOf(template, 'template'),
    appPasswordId: idOf(app, 'appPassword'),
    tokenId: idOf(agent, 'token'),
    userId: 'usr_1',
    pendingKeyId: activeKeyId,
    pendingSignature: signature,
  };
}

function passwordIn(revealed: Record<string, unknown>): string {
  return (revealed['imap'] as { password: string }).password;
}

async function recover(organizationId: string, keyId: string, key: Parameters<typeof sign>[2]): Promise<unknown> {
  const post = async (path: string, body: object): Promise<Record<string, unknown>> =>
    (await http('POST', `${base}/api/auth/recovery/${path}`, json, JSON.stringify(body))).json ?? {};
  const { recoveryId, challenge } = await post('start', { organizationId, keyId });
  const signature = sign(null, Buffer.from(String(challenge), 'base64url'), key).toString('base64');
  return (await post('complete', { recoveryId, signature: seen.add('a signature of recovery', signature) }))['token'];
}

/** Leaves a message in the inbox where one is given. */
async function login(user: string, pass: string, mail?: string): Promise<void> {
  const auth = { user, pass };
  const tls = { rejectUnauthorized: false };
  const client = new ImapFlow({ host: '127.0.0.1', port: box.port('imaps'), secure: true, auth, tls, logger: false });
  client.on('error', () => undefined);
  await client.connect();
  if (mail !== undefined) await client.append('INBOX', mail.replace(/\r?\n/g, '\r\n'));
  await client.logout();
}

/** Sends a mail that is held, as local mode sends nothing to the world. */
async function submit(user: string, pass: string): Promise<void> {
  const server = { host: '127.0.0.1', port: box.port('submissions'), secure: true };
  const transport = createTransport({ ...server, auth: { user, pass }, tls: { rejectUnauthorized: false } });
  await transport.sendMail({ from: user, to: 'somebody@remote.example', subject: 'Held', text: 'x' });
}

/** Secrets where they do not belong, as people put them. */
async function stumble(): Promise<void> {
  const secret = token;
  await http('GET', `${base}/nothing?token=${secret}`);
  await http('GET', `${base}/auth/setup?token=${secret}`);
  await http('POST', `${base}/api/tools/whoami?token=${secret}`, json, '{}');
  await http('POST', `${base}/api/tools/whoami`, { ...json, authorization: `Basic ${secret}` }, '{}');
  await http('POST', `${base}/api/tools/whoami`, { ...json, authorization: `Bearer ${secret}x` }, '{}');
  await http('POST', `${base}/api/tools/whoami`, { ...json, authorization: `Bearer ${secret}` }, `{"a":"${secret}`);
  await tool(base, 'update_organization', { name: 7, token: secret }, token);
  await tool(base, 'reveal_email_credentials', { mailboxId: secret }, token);
  await tool(base, 'rotate_email_credentials', { mailboxId: 'mbx_1', password: `${secret}\0` }, token);
  await tool(base, 'verify_recovery_key', { keyId: 'rky_1', signature: secret }, token);
  await tool(base, 'deploy_service', { serviceId: 'svc_1', env: { EMAIL_X: secret } }, token);
  await rpc(
    base,
    'tools/call',
    { name: 'whoami', arguments: { password: secret } },
    { authorization: `Bearer ${secret}` },
  );
  await rpc(base, secret, {}, { authorization: `Bearer ${secret}`, 'mcp-session-id': secret });
}

describe('secrets that were shown or given', () => {
  test('are looked for in every way in which they could stand there', () => {
    expect(seen.size).toBeGreaterThan(15);
    const trial = new SecretsSeen();
    const secret = trial.add('it', `mst_${'0123456789abcdef'.repeat(3)}`);
    const forms = [secret, Buffer.from(secret).toString('hex').toUpperCase(), secret.slice(20)];
    const shifted = ['', 'a', 'ab'].map((before) => Buffer.from(`${before}${secret}`).toString('base64'));
    for (const form of [...forms, ...shifted]) expect(trial.in(`x${form}y`), form).toEqual(['it']);
    expect(trial.in(Buffer.concat([Buffer.alloc(3), Buffer.from(secret.slice(4), 'hex')]))).toEqual(['it']);
    expect(trial.in('mst_012345')).toEqual([]);
  });

  test('are in no listing and in no description of anything', async () => {
    const found: string[] = [];
    const reading = CATALOGUE.filter((one) => one.hints.readOnly && one.operatorOnly !== true);
    for (const operation of reading) {
      const said = await tool(base, operation.name, sampleOf(operation, things), token);
      expect([operation.name, said.status]).toEqual([operation.name, 200]);
      found.push(...seen.in(said.text).map((what) => `${operation.name}: ${what}`));
      const args = { name: operation.name, arguments: sampleOf(operation, things) };
      const again = await rpc(base, 'tools/call', args, { authorization: `Bearer ${token}` });
      found.push(...seen.in(again.text).map((what) => `${operation.name} by MCP: ${what}`));
    }
    // The whole URL of a hook is its owner's to read.
    expect(found.filter((one) => !/(?:get_email_inbound_webhook|list_webhooks).*: a path of a hook/.test(one))).toEqual(
      [],
    );
    for (const path of ['/metrics', '/healthz', '/readyz', '/', '/api/tools']) {
      const said = await http('GET', `${base}${path}`, { authorization: `Bearer ${token}` });
      expect(seen.in(said.text)).toEqual([]);
    }
  });

  test('do not come back in what is answered to those who put them in the wrong place', async () => {
    for (const path of ['/nothing', '/auth/none', '/api/none', '/api/email/none']) {
      const said = await http('GET', `${base}${path}?token=${token}`, { authorization: `Bearer ${token}` });
      expect(seen.in(said.text)).toEqual([]);
    }
  });

  test('are not in the log, of whatever level', () => {
    expect(box.log.filter((line) => line.msg === 'operation').length).toBeGreaterThan(30);
    const found = box.printed.flatMap((line) => seen.in(line).map((what) => `${what}: ${line.slice(0, 200)}`));
    expect(found).toEqual([]);
  });

  /** Secrets in the files of the box and in its database, but for those that are there to be read. */
  async function stored(): Promise<string[]> {
    const inFiles = await seen.inFiles(box.dataDir, ['services']);
    const inDump = seen.in(await dumpOfBox(box.dataDir)).map((what) => `dump: ${what}`);
    return [...inFiles, ...inDump].filter((one) => !one.endsWith(': a path of a hook'));
  }

  test('are in no file but the environments of services, which are for their owner alone', async () => {
    await box.kill();
    expect(await readdir(box.dataDir)).toContain(onPostgres ? 'database.json' : 'mailstead.db-wal');
    expect(await stored()).toEqual([]);
    for (const name of await readdir(join(box.dataDir, 'services'))) {
      expect((await stat(join(box.dataDir, 'services', name))).mode & 0o777).toBe(0o600);
    }
    await box.start();
    await box.stop();
    expect(await stored()).toEqual([]);
    await box.start();
    base = `http://127.0.0.1:${box.port('http')}`;
    expect(box.printed.flatMap((line) => seen.in(line))).toEqual([]);
  });
});
