import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { newOrganization, tool } from '../support/mcp.ts';

const command = fileURLToPath(new URL('../../bin/mailstead', import.meta.url));
let box: Box;

beforeAll(async () => {
  box = await startBox();
});
afterAll(() => box[Symbol.asyncDispose]());

function mailstead(words: string, input?: string): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(command, ['--data-dir', box.dataDir, ...words.split(' ')], {
    encoding: 'utf8',
    ...(input !== undefined && { input }),
  });
  return { status, out: stdout, err: stderr };
}

function client(user: string, pass: string): ImapFlow {
  const auth = { user, pass };
  return new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imaps'),
    secure: true,
    auth,
    logger: false,
    tls: { rejectUnauthorized: false },
  });
}

describe('the local operator', () => {
  test('sees what runs, for people and for programs', () => {
    expect(mailstead('status').out).toContain('local mode, box.test');
    const said = JSON.parse(mailstead('status --json').out) as { pid: number; listeners: { smtp: number } };
    expect(said.pid).toBe(box.pid);
    expect(said.listeners.smtp).toBe(box.port('smtp'));
  });

  test('gets every check with its reason, and the last result later', () => {
    type Health = { ok: boolean; checkedAt: string; checks: { name: string; impact: string }[] };
    const ran = JSON.parse(mailstead('doctor --json').out) as Health;
    expect(ran.ok).toBe(true);
    expect(ran.checks.map(({ name }) => name)).toContain('open relay');
    for (const { name, impact } of ran.checks) expect(impact, name).toMatch(/^[A-Z].*\.$/);
    const last = JSON.parse(mailstead('call get_health --json').out) as Health;
    expect(last).toMatchObject({ ok: true, checkedAt: ran.checkedAt });
    expect(last.checks.map(({ name }) => name)).toEqual(ran.checks.map(({ name }) => name));
  });

  test('hosts a domain and is informed what to publish', () => {
    const added = mailstead('domain add shop.example');
    expect(added.status).toBe(0);
    for (const record of [
      'MX',
      'v=spf1',
      'ms1._domainkey.shop.example',
      'ms2._domainkey.shop.example',
      '_dmarc.shop.example',
    ]) {
      expect(added.out).toContain(record);
    }
    expect(mailstead('domain list').out).toMatch(/shop\.example +yes/);
  });

  test('makes a mailbox that can log in, and a new password ends its sessions', async () => {
    const { password } = JSON.parse(mailstead('mailbox add anna@box.test --json').out) as { password: string };
    const anna = client('anna@box.test', password);
    await anna.connect();
    const closed = new Promise<void>((resolve) => anna.once('close', () => resolve()));
    anna.on('error', () => undefined);
    const changed = mailstead('mailbox password anna@box.test --password-stdin', 'a-better-one-of-her-own\n');
    expect(changed.out).toContain('a-better-one-of-her-own');
    await closed;
    const again = client('anna@box.test', 'a-better-one-of-her-own');
    await again.connect();
    expect((await again.list()).map((folder) => folder.path)).toContain('Archive');
    await again.logout();
    expect(mailstead('mailbox list').out).toContain('anna@box.test');
  });

  test.each([
    ['mailbox add anna@nowhere.example', 1, 'No domain nowhere.example on this server'],
    ['mailbox add anna', 1, 'not a valid mail address'],
    ['mailbox add', 2, 'usage: mailstead mailbox add'],
    ['queue retry one', 2, 'usage: mailstead queue retry'],
    ['queue cancel 99999', 1, 'None of these'],
    ['trace nothing', 1, 'No message nothing in the journal'],
    ['tidy up', 2, 'see mailstead --help'],
    ['status --nonsense', 2, 'see mailstead --help'],
    ['status --org org_1', 2, 'usage: mailstead status'],
    ['serve now', 2, 'usage: mailstead serve'],
    ['tools --org org_1', 2, 'usage: mailstead tools'],
    ['call whoami one', 2, 'usage: mailstead call'],
    ['call no_such_thing', 1, 'Unknown operation. See mailstead tools'],
    ['call whoami who=me', 1, 'Unknown argument "who"'],
    ['call whoami --org org_99', 1, 'Unknown organization org_99'],
    ['call get_status --org org_1', 1, 'applies to the whole server'],
    ['token add', 2, 'usage: mailstead token add'],
    ['token add ci --actions fly', 1, 'actions'],
    ['token revoke tok_999', 1, 'No such token'],
    ['org freeze org_1', 1, 'cannot be frozen'],
    ['service control svc_1 shell rm', 2, 'usage: mailstead service control'],
    ['service control svc_999 none', 1, 'No such service'],
  ])('%s is answered with %i and a sentence', (words, status, sentence) => {
    const said = mailstead(words);
    expect(said.err).toContain(sentence);
    expect(said.status).toBe(status);
  });

  test('is informed when nothing runs there', () => {
    const { status, stderr } = spawnSync(command, ['status', '--data-dir', '/nonexistent/data'], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^mailstead: No server runs on .* Start one with "mailstead serve"/);
  });
});

describe('organizations, tokens and services', () => {
  const said = (words: string): Record<string, unknown> =>
    JSON.parse(mailstead(`${words} --json`).out) as Record<string, unknown>;
  const base = () => `http://127.0.0.1:${box.port('http')}`;

  test('a token that was made works, with the actions that were named, until it is revoked', async () => {
    const made = mailstead('token add ci --actions read,logs');
    expect(made.status).toBe(0);
    const [, id = '', secret = ''] = /^(tok_\d+) ci: read, logs\ntoken {2}(mst_[0-9a-f]{48}) /.exec(made.out) ?? [];
    const who = await tool(base(), 'whoami', {}, secret);
    expect(who.body).toMatchObject({ organization: { name: 'Local' }, principal: { name: 'ci' } });
    expect((await tool(base(), 'create_project', { name: 'More' }, secret)).status).toBe(403);
    expect(mailstead('token list').out).toMatch(new RegExp(`${id} +ci +mst_\\w{6} +active`));
    expect(mailstead('token list').out).not.toContain(secret);
    expect(mailstead(`token revoke ${id}`).out).toBe(`${id} is revoked\n`);
    expect((await tool(base(), 'whoami', {}, secret)).status).toBe(401);
    expect(mailstead('token list').out).toMatch(new RegExp(`${id} .*revoked`));
  });

  test('in another organization the operator leaves a row in its log', async () => {
    const { id, token } = await newOrganization(base(), 'Alpha');
    const { secret } = said(`token add helper --actions read --org ${id}`);
    expect((await tool(base(), 'whoami', {}, String(secret))).body).toMatchObject({ organization: { id } });
    expect((await tool(base(), 'list_audit_events', { limit: 1 }, token)).body).toMatchObject({
      events: [{ actor: 'operator', way: 'command-line', operation: 'create_agent_token', target: 'helper' }],
    });
    expect(mailstead(`call list_organizations --org ${id}`).err).toContain(
      'only for the organization that operates this server',
    );
  });

  test('an organization is frozen and works again', async () => {
    const { id, token } = await newOrganization(base(), 'Beta');
    expect(mailstead('org list').out).toMatch(new RegExp(`${id} +Beta +unclaimed`));
    expect(mailstead(`org freeze ${id}`).status).toBe(0);
    expect((await tool(base(), 'whoami', {}, token)).status).toBe(401);
    expect(mailstead('org list').out).toMatch(new RegExp(`${id} +Beta +frozen`));
    expect(mailstead(`org unfreeze ${id}`).status).toBe(0);
    expect((await tool(base(), 'whoami', {}, token)).status).toBe(200);
  });

  test('lists come whole, however many pages they have', async () => {
    for (let i = 0; i < 102; i++) await box.ask('create_agent_token', { name: `many ${i}`, actions: ['read'] });
    const { tokens } = said('token list') as { tokens: { name: string }[] };
    expect(new Set(tokens.map((one) => one.name)).size).toBeGreaterThan(102);
  });

  test('a service is run as the operator says, and only so', async () => {
    const { service } = said('call create_service name=clock') as { service: { id: string } };
    expect(mailstead(`service control ${service.id} command 61005 -- /bin/sleep 99`).out).toBe(
      `${service.id} clock: command\n`,
    );
    expect(said(`call deploy_service serviceId=${service.id} env:={"TZ":"UTC"}`)).toMatchObject({ state: 'running' });
    expect(mailstead('service list').out).toMatch(new RegExp(`${service.id} +clock +command +1`));
    expect(mailstead(`service control ${service.id} none`).out).toBe(`${service.id} clock: none\n`);
    // The restart ends the earlier process; nothing else would end it when the box is killed at the end.
    expect(said(`call restart_service serviceId=${service.id}`)).toMatchObject({ state: 'running' });
  });

  test('any operation can be called, with JSON from standard input too', () => {
    const { status, out } = mailstead('call search_tools -', '{"query":"webhook","limit":1}');
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ tools: [{ name: 'set_email_inbound_webhook' }] });
    expect(mailstead('tools webhook').out).toContain('set_email_inbound_webhook');
  });

  test('with --json a refusal is JSON too, and a token in the environment is no setting', () => {
    const { err, status } = mailstead('trace nothing --json');
    expect(status).toBe(1);
    expect(JSON.parse(err)).toMatchObject({ error: 'not_found' });
    const env = { ...box.env, MAILSTEAD_TOKEN: 'mst_x' };
    expect(spawnSync(command, ['status'], { env, encoding: 'utf8' }).status).toBe(0);
  });
});
