import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';

const ROOT = join(import.meta.dirname, '../..');
const TOOLS = ['curl', 'openssl', 'awk', 'base64'].every((name) => spawnSync('which', [name]).status === 0);

/** Every command of a document, as a person or an agent would type them into one shell. */
function commandsOf(document: string): string[] {
  const text = readFileSync(join(ROOT, 'docs', document), 'utf8');
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map((block) => block[1] ?? '');
}

/** Runs a document's commands from a directory that has only the command; answers what each block printed. */
async function follow(document: string, box: Box, before: readonly string[] = []): Promise<string[]> {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'quickstart-'));
  symlinkSync(join(ROOT, 'bin'), join(dir.path, 'bin'));
  const mark = '\u0001';
  const script = [...before, ...commandsOf(document)].map((block) => `${block}printf '${mark}'`).join('\n');
  // A home of its own: a recovery key belongs outside of the checkout, and a test outside of a person's home.
  const env = { ...box.env, HOME: dir.path, BASE: `http://127.0.0.1:${box.port('http')}` };
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-eu'], {
    cwd: dir.path,
    env,
    input: script,
    encoding: 'utf8',
    timeout: 100_000,
  });
  expect(`${status} ${stderr}`, stdout).toBe('0 ');
  return stdout.split(mark).slice(before.length, -1);
}

/** The block in which a text stands. */
function blockWith(blocks: readonly string[], printed: readonly string[], text: string): string {
  const i = blocks.findIndex((block) => block.includes(text));
  return printed[i] ?? expect.fail(`no block has ${text}`);
}

test.skipIf(!TOOLS)('the quickstart for an agent', { timeout: 240_000 }, async () => {
  await using box = await startBox();
  const printed = await follow('quickstart-agent.md', box);
  const said = (text: string): string => blockWith(commandsOf('quickstart-agent.md'), printed, text);
  expect(said('call bootstrap')).toContain('"organization":{"id":"org_2","slug":"example","name":"Example"}');
  expect(said('verify_email_domain')).toContain('"verified":true');
  expect(said('imaps://')).toMatch(/Subject: Hello\r\n[^]*It works\.\r\n/);
  expect(said('verify_recovery_key')).toContain('"status":"active"');
  expect(said('list_agent_tokens')).toContain('"name":"reader"');
  expect(said('/mcp.json')).toContain('${MAILSTEAD_TOKEN}');
  expect(said('bin/mailstead mcp')).toContain('"name":"Example"');
});

test.skipIf(!TOOLS)('the quickstart for a person', { timeout: 240_000 }, async () => {
  await using box = await startBox();
  const printed = await follow('quickstart-person.md', box);
  const said = (text: string): string => blockWith(commandsOf('quickstart-person.md'), printed, text);
  expect(said('bin/mailstead sign-in')).toMatch(/^http\S+\/auth\/sign-in\?token=[0-9a-f]{48}\nfor me@box\.test/);
  expect(said('MAILINDEX=1')).toMatch(/Subject: Hello\r\n[^]*It works\.\r\n/);
  expect(said('list_app_passwords')).toContain('"name": "phone"');
  expect(said('queue cancel')).toMatch(/you@example\.org[^]*1 changed/);
  expect(said('bootstrap-account')).toContain('"emailSent":true');
  expect(said('MAILINDEX=2')).toMatch(/Claim your organization Anna and friends[^]*\/auth\/setup\?token=/);
});

test.skipIf(!TOOLS)('the quickstart for an operator', { timeout: 240_000 }, async () => {
  await using box = await startBox();
  const printed = await follow('quickstart-operator.md', box);
  const said = (text: string): string => blockWith(commandsOf('quickstart-operator.md'), printed, text);
  expect(said('domain add')).toMatch(/ms1\._domainkey\.shop\.example[^]*anna@shop\.example/);
  expect(said('token revoke')).toMatch(/watcher: read, logs[^]*tok_\d+ is revoked/);
  expect(said('org freeze')).toMatch(/org_2 is frozen\norg_2 is active again/);
  expect(said('list_audit_events --org')).toContain('"operation": "create_agent_token"');
  expect(said('deploy_service')).toMatch(/"state": "running"[^]*"lines": \[[^]*clock: none/);
  // The program may be slower to write than the next command is to ask.
  const logs = async (): Promise<string> => JSON.stringify(await box.ask('read_logs', { serviceId: 'svc_1' }));
  await expect.poll(logs).toContain('UTC');
  // In good order, so that the program ends with it.
  await box.stop();
  expect(said('tools webhook')).toMatch(/set_email_inbound_webhook[^]*"intact": true/);
});

test('every quickstart has commands, and links to what is there', () => {
  for (const document of ['quickstart-agent.md', 'quickstart-person.md', 'quickstart-operator.md']) {
    expect(commandsOf(document).length).toBeGreaterThan(5);
    const text = readFileSync(join(ROOT, 'docs', document), 'utf8');
    const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map((link) => link[1] ?? '');
    expect(links.filter((path) => !existsSync(join(ROOT, 'docs', path)))).toEqual([]);
  }
});

test.skipIf(!TOOLS)('the page on sending, webhooks and forwards', { timeout: 240_000 }, async () => {
  await using box = await startBox();
  const start = commandsOf('quickstart-agent.md');
  const before = start.slice(0, start.findIndex((block) => block.includes('reveal_email_credentials')) + 1);
  const printed = await follow('sending.md', box, before);
  const said = (text: string): string => blockWith(commandsOf('sending.md'), printed, text);
  expect(said('api/email/send"')).toContain('"rcptTo":["hello@agent.test","you@example.org"]');
  expect(said('/events')).toMatch(/"state":"delivered"[^]*"state":"held"[^]*"event":"submitted"/);
  expect(said('uploads/report-1')).toMatch(/"uploadId":"report-1"[^]*"status":"queued"/);
  expect(said('create_email_template')).toMatch(/"status":"queued"[^]*template also requires name/);
  expect(said('add_suppression')).toMatch(/"suppressed":true[^]*recipient_blocked[^]*"removed":true/);
  expect(said('set_email_inbound_webhook')).toMatch(/"signingSecret":"whsec_[^]*"consecutiveFailures":0/);
  expect(said('set_email_forwarder')).toMatch(/"mode":"local_and_relay"[^]*"mode":"forward_only"/);
  expect(said('get_deliverability_report')).toContain('Not checked: this server runs without a public name.');
  expect(said('run_delivery_test')).toContain('"verdict":"waiting"');
  expect(said('get_email_stats')).toMatch(/"totals":\{[^}]*"sent":[1-9]/);
});

test.skipIf(!TOOLS)('the page on JMAP', { timeout: 240_000 }, async () => {
  await using box = await startBox();
  const start = commandsOf('quickstart-agent.md');
  const before = start.slice(0, start.findIndex((block) => block.includes('reveal_email_credentials')) + 1);
  const printed = await follow('jmap.md', box, before);
  const said = (text: string): string => blockWith(commandsOf('jmap.md'), printed, text);
  expect(said('.well-known/jmap')).toContain('"username":"hello@agent.test"');
  expect(said('onSuccessUpdateEmail')).toMatch(/"EmailSubmission\/set",\{[^]*"undoStatus":"[^]*"updated":\{"m/);
  expect(said('onSuccessUpdateEmail')).toMatch(
    /"Email\/get",\{[^]*"subject":"By JMAP"[^]*"preview":"Here are the quinces\."/,
  );
  expect(said('eventsource')).toMatch(/"updated":\{"m[^]*event: state\n(?:id: .*\n)?data: \{"@type":"StateChange"/);
});
