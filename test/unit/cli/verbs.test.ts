import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { help, helpOn } from '../../../src/cli/main.ts';
import { PROGRAMS } from '../../../src/cli/programs.ts';
import { listTools, toolsPage } from '../../../src/cli/tools.ts';
import type { VerbInput } from '../../../src/cli/verb.ts';
import { VERBS } from '../../../src/cli/verbs.ts';
import { impactOf } from '../../../src/doctor/impact.ts';
import { BOX_OPERATIONS } from '../../../src/operations/operator/index.ts';
import { CATALOGUE, FOR_PEOPLE } from '../../../src/operations/catalogue.ts';
import { normalizeArguments } from '../../../src/core/argument-normalizer.ts';
import { diagnosed } from '../../support/doctor-world.ts';
import { MACHINE_FAULTS } from '../../support/machine-faults.ts';
import { NETWORK_FAULTS } from '../../support/network-faults.ts';
import { SETTINGS_FAULTS } from '../../support/settings-faults.ts';

const OPERATIONS = [...CATALOGUE, ...FOR_PEOPLE, ...BOX_OPERATIONS];
const ALL_ACTIONS = ['read', 'manage', 'deploy', 'logs', 'restart', 'rollback'];

function ask(words: string, args: readonly string[], given: Partial<VerbInput> = {}) {
  const verb = VERBS.find((one) => one.words === words);
  if (verb === undefined) throw new Error(`no verb ${words}`);
  return verb.parse(args, { stdin: () => '', ...given });
}

test('the doctor says of each check that did not pass why it matters and what to do', async () => {
  const verb = VERBS.find(({ words }) => words === 'doctor') ?? expect.fail();
  for (const [fault, injected] of [...MACHINE_FAULTS, ...NETWORK_FAULTS, ...SETTINGS_FAULTS]) {
    const checks = (await diagnosed(injected)).map((one) => ({ ...one, impact: impactOf(one.name) }));
    const text = verb.show({ checks } as never);
    for (const { name, status, why, impact, fix } of checks.filter((one) => one.status !== 'ok')) {
      const lines = `${name}: ${why}\n         Why it matters: ${impact}\n         What to do: ${fix}`;
      expect(text, `${fault}: ${status}`).toContain(lines);
      expect(fix).not.toBe('');
    }
  }
});

describe('what a verb asks for', () => {
  test.each<[string, string[], Partial<VerbInput>, string, object]>([
    ['status', [], {}, 'get_status', {}],
    ['doctor', [], {}, 'run_doctor', {}],
    ['doctor', ['mx.example.net'], {}, 'run_doctor', { peer: 'mx.example.net' }],
    ['domain add', ['shop.example'], {}, 'add_domain', { domain: 'shop.example' }],
    ['domain list', [], {}, 'list_domains', {}],
    ['certificate list', [], {}, 'list_certificates', {}],
    ['certificate renew', ['mail.box.test'], {}, 'renew_certificate', { name: 'mail.box.test' }],
    ['mailbox add', ['a@box.test'], {}, 'add_mailbox', { address: 'a@box.test' }],
    ['mailbox list', [], {}, 'list_box_mailboxes', {}],
    [
      'mailbox password',
      ['a@box.test'],
      { 'password-stdin': true, stdin: () => ' a long secret \r\n' },
      'change_mailbox_password',
      { address: 'a@box.test', password: ' a long secret ' },
    ],
    ['mailbox delete', ['a@box.test'], {}, 'delete_email', { address: 'a@box.test', permanently: false }],
    [
      'mailbox delete',
      ['a@box.test'],
      { permanently: true },
      'delete_email',
      { address: 'a@box.test', permanently: true },
    ],
    ['mailbox deleted', [], {}, 'list_deleted_emails', {}],
    ['mailbox restore', ['a@box.test'], {}, 'restore_email', { address: 'a@box.test' }],
    ['service delete', ['svc_1'], {}, 'delete_service', { serviceId: 'svc_1', permanently: false }],
    ['service deleted', [], {}, 'list_deleted_services', {}],
    ['service restore', ['svc_1'], {}, 'restore_service', { serviceId: 'svc_1' }],
    ['queue list', [], {}, 'list_box_queue', {}],
    ['queue retry', ['1', '2'], {}, 'retry_box_queue', { ids: [1, 2] }],
    ['queue release', ['all'], {}, 'release_box_queue', { ids: 'all' }],
    ['queue cancel', ['7'], {}, 'cancel_box_queue', { ids: [7] }],
    ['queue hold', ['domain:a.test'], {}, 'hold_box_queue', { ids: 'all', domain: 'a.test' }],
    ['queue route', ['direct', 'message:abc'], {}, 'reroute_box_queue', { ids: 'all', trace: 'abc', route: 'direct' }],
    ['trace', ['abc'], {}, 'trace_box_message', { trace: 'abc' }],
    ['org list', [], {}, 'list_organizations', {}],
    ['org freeze', ['org_2'], {}, 'freeze_organization', { targetOrganizationId: 'org_2' }],
    ['org unfreeze', ['org_2'], {}, 'unfreeze_organization', { targetOrganizationId: 'org_2' }],
    ['bans', [], {}, 'list_bans', {}],
    ['bans lift', ['192.0.2.7'], {}, 'remove_ban', { address: '192.0.2.7' }],
    ['agents', [], {}, 'list_agents', {}],
    ['agents stop', [], {}, 'stop_agents', {}],
    ['agents start', [], {}, 'start_agents', {}],
    ['agents release', [], {}, 'release_agent_mail', {}],
    ['agents release', ['tok_4'], {}, 'release_agent_mail', { tokenId: 'tok_4' }],
    ['agents mode', ['tok_4', 'frozen'], {}, 'set_agent_mode', { tokenId: 'tok_4', mode: 'frozen' }],
    ['canary plant', ['me@box.test', 'one'], {}, 'plant_canary', { mailbox: 'me@box.test', label: 'one' }],
    [
      'canary plant',
      ['me@box.test', 'one', 'secret', 'payments'],
      {},
      'plant_canary',
      { mailbox: 'me@box.test', label: 'one', kind: 'secret', story: 'payments' },
    ],
    ['canary list', ['me@box.test'], {}, 'list_canaries', { mailbox: 'me@box.test' }],
    ['canary settle', ['can_1'], {}, 'settle_canary', { canaryId: 'can_1' }],
    ['canary remove', ['can_1'], {}, 'remove_canary', { canaryId: 'can_1' }],
    ['token add', ['ci'], {}, 'create_agent_token', { name: 'ci', actions: ALL_ACTIONS }],
    ['token add', ['ci'], { actions: 'read, logs' }, 'create_agent_token', { name: 'ci', actions: ['read', 'logs'] }],
    ['token list', [], {}, 'list_agent_tokens', {}],
    ['token revoke', ['tok_4'], {}, 'revoke_agent_token', { tokenId: 'tok_4' }],
    ['sign-in', [], {}, 'create_sign_in_link', {}],
    ['sign-in', ['me@box.test'], {}, 'create_sign_in_link', { email: 'me@box.test' }],
    ['second-factor reset', ['me@box.test'], {}, 'reset_second_factor', { email: 'me@box.test' }],
    ['service list', [], {}, 'list_box_services', {}],
    ['service variables', ['svc_1', 'TZ'], {}, 'set_service_control', { serviceId: 'svc_1', variables: ['TZ'] }],
    [
      'service control',
      ['svc_1', 'none'],
      {},
      'set_service_control',
      { serviceId: 'svc_1', control: { kind: 'none' } },
    ],
    [
      'service control',
      ['svc_1', 'command', '2001', 'node', 'app.js', '--port', '80'],
      {},
      'set_service_control',
      { serviceId: 'svc_1', control: { kind: 'command', uid: 2001, command: ['node', 'app.js', '--port', '80'] } },
    ],
    [
      'service control',
      ['svc_1', 'systemd', 'shop.service'],
      {},
      'set_service_control',
      { serviceId: 'svc_1', control: { kind: 'systemd', unit: 'shop.service' } },
    ],
    [
      'service control',
      ['svc_1', 'compose', 'compose.yml', 'web'],
      {},
      'set_service_control',
      { serviceId: 'svc_1', control: { kind: 'compose', file: resolve('compose.yml'), service: 'web' } },
    ],
    ['call', ['whoami'], {}, 'whoami', {}],
    ['call', ['search_tools', '{"query":"audit"}'], {}, 'search_tools', { query: 'audit' }],
    ['call', ['search_tools', '-'], { stdin: () => '{"query":"x"}' }, 'search_tools', { query: 'x' }],
    [
      'call',
      ['create_agent_token', 'name=a=b', 'actions:=["read"]'],
      {},
      'create_agent_token',
      { name: 'a=b', actions: ['read'] },
    ],
    [
      'call',
      ['create_agent_token', 'name=ci', 'actions=read', 'actions=logs'],
      {},
      'create_agent_token',
      { name: 'ci', actions: ['read', 'logs'] },
    ],
  ])('%s %j', (words, args, given, operation, input) => {
    expect(ask(words, args, given)).toEqual({ operation, input });
    const schema = OPERATIONS.find((one) => one.name === operation)?.input;
    if (schema === undefined) throw new Error(`no operation ${operation}`);
    expect(schema.safeParse(normalizeArguments(schema, input)).error).toBeUndefined();
  });

  test('every verb stands in the table above', () => {
    const words = VERBS.map((one) => one.words);
    expect(new Set(words).size).toBe(words.length);
    expect(words.length).toBe(45);
  });

  test.each<[string, string[]]>([
    ['status', ['now']],
    ['domain add', []],
    ['queue retry', []],
    ['queue retry', ['one']],
    ['queue retry', ['1.5']],
    ['queue hold', ['domain:a.test', '7']],
    ['queue route', ['direct']],
    ['token add', []],
    ['token add', ['two', 'words']],
    ['service control', ['svc_1']],
    ['service control', ['svc_1', 'none', 'more']],
    ['service control', ['svc_1', 'command', '2001']],
    ['service control', ['svc_1', 'compose', 'file']],
    ['service control', ['svc_1', 'docker', 'x']],
    ['call', []],
    ['call', ['Whoami']],
    ['call', ['whoami', 'text']],
    ['call', ['whoami', '[1]']],
    ['call', ['whoami', '{']],
    ['call', ['whoami', 'a:=b']],
  ])('%s %j is wrong use', (words, args) => {
    expect(ask(words, args)).toBeUndefined();
  });
});

describe('the help', () => {
  test('has every verb and program with its usage, and nothing is wider than a screen of 120', () => {
    const text = help();
    for (const { words, usage, about } of [...PROGRAMS, ...VERBS]) {
      expect(text).toContain(`  ${`${words} ${usage}`.trim()}`);
      expect(text).toContain(about);
    }
    expect(text.split('\n').filter((line) => line.length > 130)).toEqual([]);
  });

  test('of one verb names its options', () => {
    for (const one of [...PROGRAMS, ...VERBS]) {
      for (const option of one.options ?? []) expect(helpOn(one)).toContain(`--${option}`);
    }
  });
});

describe('tools', () => {
  test('lists every operation, those of the command line too', () => {
    const lines = listTools([], false).split('\n');
    expect(lines).toHaveLength(OPERATIONS.length + 1);
    for (const { name } of OPERATIONS) expect(lines.some((line) => line.startsWith(`${name} `))).toBe(true);
  });

  test('finds by words, all of which must be there', () => {
    expect(listTools(['webhook', 'secret'], false)).toContain('set_email_inbound_webhook');
    expect(listTools(['webhook', 'secret'], false)).not.toContain('provision_email');
    expect(listTools(['no such words'], false)).toBe('No operation matches.');
  });

  test('describes one operation', () => {
    const text = listTools(['provision_email'], false);
    expect(text).toMatch(/^provision_email: Create a mailbox\n/);
    expect(text).toContain('Needs: manage.');
    expect(text).toMatch(/localPart +text\n/);
    expect(text).toMatch(/displayName +text, optional/);
    const said = JSON.parse(listTools(['provision_email'], true)) as { inputSchema: { required: string[] } };
    expect(said.inputSchema.required).toEqual(['localPart']);
  });

  test('the page for people has every operation, once', () => {
    const headings = [...toolsPage().matchAll(/^### (\w+)/gm)].map((found) => found[1] ?? '');
    expect(headings.toSorted()).toEqual(OPERATIONS.map((one) => one.name).toSorted());
  });
});
