import { generateKeyPairSync, sign } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { Resolver } from 'node:dns/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { curl, CurlAgent, hasCurl } from '../support/curl.ts';
import { Internet } from '../support/internet.ts';
import { sharedNode } from '../support/shared-node.ts';

const HOST = 'mail.box.example';

interface Onboarded {
  domain: { id: string; status: string };
  records: { type: string; name: string; purpose: string }[];
  dnsManaged: boolean;
  copyPaste: string;
}

interface Verified {
  verified: boolean;
  records: { purpose: string; status: string; observed: string[] }[];
}

interface Profile {
  address: string;
  imap: { host: string; port: number; secure: boolean; username: string; password: string };
}

let internet: Internet;
let box: Box;
let base: string;

async function start(settings: Record<string, string>, nearby = false): Promise<void> {
  internet = await Internet.start();
  internet.publish(`${HOST}. IN A 127.0.0.1\na.nic.example. IN A 127.0.0.1`);
  internet.delegate('example', ['a.nic.example']);
  // Other people's name servers are not at port 53 here.
  const wrapper = [process.execPath, join(import.meta.dirname, '../support/serve-nearby.ts'), `${internet.serverPort}`];
  box = await startBox({
    hostname: HOST,
    settings: { RESOLVERS: internet.address, ...settings },
    ...(nearby && { wrapper }),
  });
  base = `http://127.0.0.1:${box.port('http')}`;
}

async function end(): Promise<void> {
  // In good order: what a box supervises would outlive its being killed.
  if (box.running) await box.stop();
  await box[Symbol.asyncDispose]();
  await internet[Symbol.asyncDispose]();
}

/** An agent without credentials makes itself an organization. */
async function newcomer(name: string): Promise<CurlAgent> {
  const agent = new CurlAgent(base);
  const made = await agent.tool<{ token: string }>('create_own_organization', { organizationName: name });
  agent.token = made.token;
  return agent;
}

/** Sends a message to the SMTP port with curl; returns curl's result. */
function deliver(to: string, subject: string): Promise<string> {
  const upload = ['--mail-from', 'friend@elsewhere.example', '--mail-rcpt', to, '-T', '-'];
  const message = `From: friend@elsewhere.example\r\nTo: ${to}\r\nSubject: ${subject}\r\n\r\nHello\r\n`;
  return curlWith(message, `smtp://127.0.0.1:${box.port('smtp')}`, ...upload).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
}

async function curlWith(input: string, ...args: string[]): Promise<string> {
  const { spawn } = await import('node:child_process');
  const child = spawn('curl', ['-sS', '-v', '--max-time', '30', ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(said);
  return said;
}

function fetchFirst({ imap }: Profile): Promise<string> {
  const here = `${imap.host}:${imap.port}:127.0.0.1`;
  const url = `imaps://${imap.host}:${imap.port}/INBOX;MAILINDEX=1`;
  return curl('-k', '--resolve', here, '--user', `${imap.username}:${imap.password}`, url);
}

/** From an address that is proved to a mail that is read with revealed credentials. */
async function mailFlows(agent: CurlAgent, domain: string): Promise<void> {
  const { mailbox } = await agent.tool<{ mailbox: { id: string; address: string; dnsStatus: string } }>(
    'provision_email',
    { domain, localPart: 'info' },
  );
  expect(mailbox).toMatchObject({ address: `info@${domain}`, dnsStatus: 'verified' });
  const profile = await agent.tool<Profile>('reveal_email_credentials', { mailboxId: mailbox.id });
  expect(profile.imap).toMatchObject({ host: HOST, secure: true, username: `info@${domain}` });
  expect(await deliver(`info@${domain}`, 'first light')).toBe('accepted');
  expect(await fetchFirst(profile)).toContain('Subject: first light');
}

describe.skipIf(!hasCurl)('an agent with curl and a domain whose keys stand in TXT records', () => {
  beforeAll(() => start({}));
  afterAll(end);

  test('publishes exactly what it was given, and mail flows', async () => {
    const agent = await newcomer('Text Records');
    const added = await agent.tool<Onboarded>('add_email_domain', { domain: 'txt.example' });
    expect(added).toMatchObject({ dnsManaged: false, domain: { status: 'unverified' } });
    const purposes = added.records.map((one) => one.purpose).toSorted();
    expect(purposes).toEqual(['dkim', 'dkim', 'dmarc', 'inbound_mx', 'mta_sts', 'spf']);

    const early = await agent.tool<Verified>('verify_email_domain', { domainId: added.domain.id });
    expect(early.verified).toBe(false);
    expect(early.records[0]).toMatchObject({ status: 'missing' });
    expect(await deliver('info@txt.example', 'too soon')).toContain('450 4.7.1');
    expect(await deliver('info@nobody.example', 'nobody')).toContain('550');

    internet.publish(added.copyPaste);
    const late = await agent.tool<Verified>('verify_email_domain', { domainId: added.domain.id });
    expect(late.records.filter((one) => one.status !== 'ok')).toEqual([]);
    expect(late.verified).toBe(true);
    await mailFlows(agent, 'txt.example');
  });

  test('a domain that was proved by one organization is nobody else’s, and names of another are no hindrance', async () => {
    const squatter = await newcomer('Squatter');
    await squatter.tool('add_email_domain', { domain: 'fought.example' });
    await squatter.tool('provision_email', { domain: 'fought.example', localPart: 'info' });
    const owner = await newcomer('Owner');
    const added = await owner.tool<Onboarded>('add_email_domain', { domain: 'fought.example' });
    internet.publish(added.copyPaste);
    expect(await owner.tool('verify_email_domain', { domain: 'fought.example' })).toMatchObject({ verified: true });
    await mailFlows(owner, 'fought.example');
    expect(await squatter.try('verify_email_domain', { domain: 'fought.example' })).toMatchObject({
      verified: false,
    });
    const { mailboxes } = await squatter.tool<{ mailboxes: { id: string; usedBytes: number }[] }>('list_emails');
    expect(mailboxes).toMatchObject([{ usedBytes: 0, dnsStatus: 'unverified' }]);
  });
});

describe.skipIf(!hasCurl)('an agent with curl and a box that runs its own DNS', () => {
  beforeAll(async () => {
    await start({ DNS_PORT: '0' }, true);
    internet.delegate(`dkim.${HOST}`, [HOST], box.port('dns'));
  });
  afterAll(end);

  test('publishes CNAMEs that lead into the box, and the keys change without anybody’s doing', async () => {
    const agent = await newcomer('Aliases');
    const added = await agent.tool<Onboarded>('add_email_domain', { domain: 'cname.example' });
    expect(added.records.filter((one) => one.purpose === 'dkim').map((one) => one.type)).toEqual(
      Array<string>(4).fill('CNAME'),
    );
    internet.publish(added.copyPaste);
    expect(await agent.tool<Verified>('verify_email_domain', { domain: 'cname.example' })).toMatchObject({
      verified: true,
    });
    await mailFlows(agent, 'cname.example');
    const rotated = await agent.tool<{ selectors: string[] }>('rotate_dkim_keys', { domain: 'cname.example' });
    expect(rotated.selectors).toEqual(['ms3', 'ms4']);
    const again = await agent.tool<{ domain: { checks: { dkim: { detail: string } } } }>('verify_email_domain', {
      domain: 'cname.example',
    });
    expect(again.domain.checks.dkim.detail).toContain('ms3');
  });

  test('delegates a domain, publishes nothing, and everything is there; with the last mailbox it goes again', async () => {
    const agent = await newcomer('Delegated');
    const added = await agent.tool<Onboarded>('add_email_domain', { domain: 'led.example' });
    expect(added.dnsManaged).toBe(false);
    const own = await ownServerOf(agent, 'led.example');
    internet.delegate('led.example', [own], box.port('dns'));
    // The box refuses what it does not serve yet, so nobody who resolves can tell where the domain leads.
    await expect(nameServers('led.example')).rejects.toMatchObject({ code: 'ESERVFAIL' });
    expect(await agent.tool('apply_managed_dns', { domain: 'led.example' })).toMatchObject({
      managed: true,
      nameServers: [own],
    });
    expect(await nameServers('led.example')).toEqual([own]);
    expect(await agent.tool('verify_email_domain', { domain: 'led.example' })).toMatchObject({ verified: true });
    await mailFlows(agent, 'led.example');

    expect(await agent.try('remove_email_domain', { domain: 'led.example' })).toMatchObject({
      error: 'mailboxes_exist',
      mailboxCount: 1,
    });
    expect(await agent.tool('delete_email', { address: 'info@led.example' })).toMatchObject({
      domainDnsTornDown: true,
    });
    const gone = await agent.tool<{ record: { status: string } }>('check_dns_record', {
      domain: 'led.example',
      name: '_dmarc.led.example',
    });
    expect(gone.record.status).not.toBe('ok');
    expect(await agent.tool('remove_email_domain', { domain: 'led.example' })).toMatchObject({ removed: true });
    expect(await deliver('info@led.example', 'too late')).toContain('550');
  });

  test('leads a domain here that was added when it led here already, and away again', async () => {
    internet.delegate('box-named.example', [HOST], box.port('dns'));
    const agent = await newcomer('Movers');
    expect(await agent.tool('add_email_domain', { domain: 'box-named.example' })).toMatchObject({ dnsManaged: true });
    expect(await agent.tool('verify_email_domain', { domain: 'box-named.example' })).toMatchObject({ verified: true });
    const own = await ownServerOf(agent, 'box-named.example');
    internet.delegate('box-named.example', [own, HOST], box.port('dns'));
    await agent.tool('apply_managed_dns', { domain: 'box-named.example' });
    expect((await nameServers('box-named.example')).toSorted()).toEqual([own, HOST].toSorted());

    internet.delegate('box-named.example', ['ns.other.example']);
    expect(await agent.tool('apply_managed_dns', { domain: 'box-named.example' })).toMatchObject({
      managed: false,
      nameServers: ['ns.other.example'],
    });
    const { domains } = await agent.tool<{ domains: object[] }>('list_email_domains');
    expect(domains).toMatchObject([{ domain: 'box-named.example', dnsManaged: false }]);
  });

  test('is served although somebody else claimed and got the domain by the box’s name before', async () => {
    internet.delegate('wanted.example', [HOST], box.port('dns'));
    const squatter = await newcomer('Early Bird');
    expect(await squatter.tool('add_email_domain', { domain: 'wanted.example' })).toMatchObject({ dnsManaged: true });
    const owner = await newcomer('Owner of it');
    expect(await owner.tool('add_email_domain', { domain: 'wanted.example' })).toMatchObject({ dnsManaged: false });
    const own = await ownServerOf(owner, 'wanted.example');
    internet.delegate('wanted.example', [own], box.port('dns'));
    expect(await squatter.tool('verify_email_domain', { domain: 'wanted.example' })).toMatchObject({
      verified: false,
      domain: { dnsManaged: false },
    });
    expect(await owner.tool('verify_email_domain', { domain: 'wanted.example' })).toMatchObject({ verified: true });
    expect(await squatter.tool('apply_managed_dns', { domain: 'wanted.example' })).toMatchObject({ managed: false });
    await mailFlows(owner, 'wanted.example');
  });
});

/** Returns the name server that the box asks to set for a domain. */
async function ownServerOf(agent: CurlAgent, domain: string): Promise<string> {
  const { wantedNameServers } = await agent.tool<{ wantedNameServers: string[] }>('apply_managed_dns', { domain });
  return wantedNameServers[0] ?? '';
}

/** As everybody sees them. */
function nameServers(domain: string): Promise<string[]> {
  const resolver = new Resolver();
  resolver.setServers([internet.address]);
  return resolver.resolveNs(domain);
}

describe.skipIf(!hasCurl)('an agent with curl and a service', () => {
  beforeAll(() => start({}));
  afterAll(end);

  test('deploys, reads, restarts and rolls back once it can be recovered', async () => {
    const agent = await newcomer('Deployers');
    const { organization } = await agent.tool<{ organization: { id: string } }>('whoami');
    const { service } = await agent.tool<{ service: { id: string } }>('create_service', { name: 'shop' });
    expect(await agent.try('deploy_service', { serviceId: service.id })).toMatchObject({
      error: 'deploy_gate_closed',
      blockers: ['recovery'],
    });
    await openGate(agent, organization.id);

    const program =
      'process.on("SIGTERM", () => process.exit(0)); console.log(`tint ${process.env.TINT} of ${process.env.EMAIL_ADDRESS}`); setInterval(() => {}, 1000)';
    await box.ask('set_service_control', {
      serviceId: service.id,
      control: { kind: 'command', command: [sharedNode(), '-e', program], uid: 61_004 },
      variables: ['TINT'],
    });
    await agent.tool('add_email_domain', { domain: 'shop.example' });
    const made = await agent.tool<{ attached: { variables: string[] } }>('provision_email', {
      domain: 'shop.example',
      localPart: 'orders',
      attachServiceId: service.id,
    });
    expect(made.attached.variables).toContain('EMAIL_IMAP_PASSWORD');
    const first = await agent.tool('deploy_service', { serviceId: service.id, env: { TINT: "o'range $1" } });
    expect(first).toMatchObject({ revision: 1, state: 'running' });
    await logged(agent, service.id, "tint o'range $1 of orders@shop.example");
    await agent.tool('deploy_service', { serviceId: service.id, env: { TINT: 'green' }, spec: { image: 'shop:2' } });
    await logged(agent, service.id, 'tint green of orders@shop.example');
    expect(await agent.tool('restart_service', { serviceId: service.id })).toMatchObject({ revision: 2 });
    expect(await agent.tool('rollback_service', { serviceId: service.id, revision: 1 })).toMatchObject({
      revision: 1,
      state: 'running',
    });
    expect(await agent.tool('list_deployments', { serviceId: service.id })).toMatchObject({
      current: 1,
      deployments: [
        { revision: 2, state: 'superseded', spec: { image: 'shop:2' } },
        { revision: 1, state: 'running' },
      ],
    });
  });

  test('reads its environment with a token of its own, and from a file that only its owner may read', async () => {
    const agent = await newcomer('Readers');
    const { service } = await agent.tool<{ service: { id: string } }>('create_service', { name: 'reader' });
    const { secret } = await agent.tool<{ secret: string }>('create_agent_token', {
      name: 'the service itself',
      actions: ['read'],
      serviceId: service.id,
    });
    await agent.tool('add_email_domain', { domain: 'reader.example' });
    const { mailbox } = await agent.tool<{ mailbox: { id: string } }>('provision_email', {
      domain: 'reader.example',
      localPart: 'app',
    });
    const attach = { mailboxId: mailbox.id, serviceId: service.id, alias: 'support' };
    const pair = { mailboxId: mailbox.id, serviceId: service.id };
    expect(await agent.tool('attach_email_to_service', attach)).toMatchObject({ alreadyAttached: false });
    expect(await agent.tool('attach_email_to_service', attach)).toMatchObject({ alreadyAttached: true });

    const bearer = ['-H', `Authorization: Bearer ${secret}`];
    const url = `${base}/api/services/${service.id}/env`;
    const { env } = JSON.parse(await curl(url, ...bearer)) as { env: Record<string, string> };
    const { imap } = await agent.tool<Profile>('reveal_email_credentials', { mailboxId: mailbox.id });
    expect(env).toMatchObject({
      EMAIL_SUPPORT_ADDRESS: 'app@reader.example',
      EMAIL_SUPPORT_IMAP_PASSWORD: imap.password,
    });
    const file = join(box.dataDir, 'services', `${service.id}.env`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toBe(await curl(url, ...bearer, '-H', 'Accept: text/plain'));

    const rotated = await agent.tool('rotate_email_credentials', { mailboxId: mailbox.id });
    expect(rotated).toMatchObject({ generated: true, reinjectedServiceIds: [service.id] });
    expect(await readFile(file, 'utf8')).not.toContain(imap.password);
    const detached = await agent.tool<{ wasAttached: boolean }>('detach_email_from_service', pair);
    expect(detached.wasAttached).toBe(true);
    expect(await readFile(file, 'utf8')).not.toContain('EMAIL_');
    expect(await agent.tool('detach_email_from_service', pair)).toMatchObject({ wasAttached: false });

    const limited = new CurlAgent(base);
    limited.token = secret;
    expect(await limited.try('list_emails')).toMatchObject({ error: 'out_of_scope', allowedServiceId: service.id });
    expect(await limited.try('deploy_service', { serviceId: service.id })).toMatchObject({
      error: 'action_not_allowed',
    });
  });
});

async function openGate(agent: CurlAgent, organizationId: string): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const key = await agent.tool<{ keyId: string; challenge: string }>('register_recovery_key', {
    organizationId,
    label: 'journey',
    publicKey: spki,
  });
  const signature = sign(null, Buffer.from(key.challenge, 'base64url'), privateKey).toString('base64');
  expect(await agent.tool('verify_recovery_key', { keyId: key.keyId, signature })).toMatchObject({ status: 'active' });
}

async function logged(agent: CurlAgent, serviceId: string, line: string): Promise<void> {
  await expect
    .poll(
      async () =>
        (
          await agent.tool<{ untrusted: { lines: { text: string }[] } }>('read_logs', { serviceId })
        ).untrusted.lines.map((one) => one.text),
      { timeout: 60_000 },
    )
    .toContain(line);
}
