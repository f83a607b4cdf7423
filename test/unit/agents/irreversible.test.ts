import { mkdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, operatorCaller } from '../../../src/core/caller.ts';
import { rowId } from '../../../src/core/ids.ts';
import { servicesDir } from '../../../src/services/env-file.ts';
import { logFilePath } from '../../../src/services/log-file.ts';
import { difference, rowsOf } from '../../support/rows.ts';
import { type Tenants, type Things, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
let governed: Caller;
beforeAll(async () => {
  tenants = await twoTenants();
  const person = operatorCaller(rowId('organization', tenants.a.main.organizationId));
  const trusted = await tenants.do('save_agent_policy', { name: 'Trusted', preset: 'trusted-internal' }, person);
  const actions = ['read', 'manage', 'deploy', 'rollback', 'send'];
  governed = await tenants.caller({ actions, agentPolicyId: trusted['policyId'] }, person);
});
afterAll(() => tenants[Symbol.asyncDispose]());

type Act = readonly [operation: string, args: (of: Things) => object];

/** Acts that nothing takes back, on mail and things of people. */
const ACTS: readonly Act[] = [
  ['cancel_queue_item', ({ queueId }) => ({ queueId })],
  ['cancel_queue_item', ({ heldId: queueId }) => ({ queueId })],
  ['steer_queue', () => ({ action: 'cancel' })],
  ['withdraw_outbox_item', ({ outboxId }) => ({ outboxId })],
  ['cancel_scheduled_email', ({ sentId: messageId }) => ({ messageId })],
  ['update_email', ({ mailboxId }) => ({ mailboxId, quotaBytes: 1_000_000 })],
  ['rotate_dkim_keys', ({ domainId }) => ({ domainId })],
  ['create_alias', ({ mailboxId }) => ({ mailboxIds: [mailboxId], localPart: 'Abuse' })],
  ['create_alias', ({ mailboxId }) => ({ mailboxIds: [mailboxId], localPart: 'postmaster' })],
  ['provision_email', ({ domainId }) => ({ domainId, localPart: 'hostmaster' })],
  ['add_sender_rule', ({ mailboxId }) => ({ mailboxId, kind: 'block', pattern: 'customer.example' })],
  ['add_sender_rule', () => ({ direction: 'out', kind: 'block', pattern: 'customer.example' })],
  ['add_suppression', () => ({ address: 'customer@shop.example' })],
  ['deploy_service', ({ serviceId }) => ({ serviceId, env: { NODE_OPTIONS: '--import=data:,' } })],
  ['rollback_service', ({ serviceId }) => ({ serviceId, revision: 1 })],
];

test.each(ACTS)('a governed token only proposes %s', async (operation, args) => {
  const before = await rowsOf(tenants.world.store);
  expect(await tenants.try(operation, args(tenants.a.main), governed)).toMatchObject({
    result: { status: 'pending_approval' },
  });
  const { gone, added } = difference(before, await rowsOf(tenants.world.store));
  expect(gone).toEqual([]);
  expect(added.filter((row) => !/^proposal\b/.test(row))).toEqual([]);
});

test.each(ACTS)('a token without a policy does %s at once', async (operation, args) => {
  const done = await tenants.try(operation, args(tenants.a.side));
  expect(done).toHaveProperty('kind', 'done');
  expect(done).not.toHaveProperty('pending');
});

test('a governed token takes back its own mail, and enlarges a quota, at once', async () => {
  const { address: from, mailboxId } = tenants.a.main;
  const sendAt = new Date(tenants.clock.now + 86_400_000).toISOString();
  const { outboxId } = await tenants.do('send_email', { from, to: from, subject: 'x', text: 'x', sendAt }, governed);
  expect(await tenants.do('withdraw_outbox_item', { outboxId }, governed)).toEqual({ withdrawn: true });
  expect(await tenants.do('update_email', { mailboxId, quotaBytes: null }, governed)).toHaveProperty('mailbox');
});

test('a governed token of a service does not read the passwords of its environment', async () => {
  const { serviceId, policyId, organizationId } = tenants.a.main;
  const person = operatorCaller(rowId('organization', organizationId));
  const own = await tenants.caller({ actions: ['read'], serviceId });
  expect(await tenants.do('get_service_environment', { serviceId }, own)).toHaveProperty('env');
  const limited = await tenants.caller({ actions: ['read'], serviceId, agentPolicyId: policyId }, person);
  expect(await tenants.try('get_service_environment', { serviceId }, limited)).toMatchObject({
    refusal: { error: 'action_not_allowed' },
  });
});

test('passwords that a program logs are redacted for tokens', async () => {
  const { serviceId } = tenants.a.main;
  const { env } = (await tenants.do('get_service_environment', { serviceId })) as { env: Record<string, string> };
  await mkdir(servicesDir(tenants.dataDir), { recursive: true });
  const line = `login with ${env['EMAIL_SMTP_PASSWORD']} of ${env['EMAIL_SMTP_USERNAME']}`;
  await writeFile(logFilePath(tenants.dataDir, rowId('service', serviceId) ?? 0), `2026-01-01T00:00:00.000Z ${line}\n`);
  const reader = await tenants.caller({ actions: ['logs'], serviceId });
  expect(await tenants.do('read_logs', { serviceId }, reader)).toMatchObject({
    untrusted: { lines: [{ text: `login with [password] of ${tenants.a.main.address}` }] },
  });
});
