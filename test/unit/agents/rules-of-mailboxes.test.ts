import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowId } from '../../../src/core/ids.ts';
import type { Caller } from '../../../src/core/caller.ts';
import { operatorCaller } from '../../../src/core/caller.ts';
import { difference, rowsOf } from '../../support/rows.ts';
import { type Tenants, type Things, twoTenants } from '../../support/tenants.ts';

/** Organization "a": a token of the whole of it without a policy; its first mailbox under one whose rules wait. */
let tenants: Tenants;
let person: Caller;
beforeAll(async () => {
  tenants = await twoTenants();
  person = operatorCaller(rowId('organization', tenants.a.main.organizationId));
  const { mailboxId, policyId } = tenants.a.main;
  await tenants.do('attach_agent_policy', { mailboxId, policyId }, person);
});
afterAll(() => tenants[Symbol.asyncDispose]());

let n = 0;
const next = (): number => ++n;

async function aliasTo(mailboxIds: string[], domainId: string, localPart: string): Promise<string> {
  const made = await tenants.do('create_alias', { mailboxIds, domainId, localPart }, person);
  return (made['alias'] as { id: string }).id;
}

async function ruleFor(mailboxId: string | undefined): Promise<string> {
  const rule = { kind: 'block', pattern: `blocked${next()}.example`, ...(mailboxId !== undefined && { mailboxId }) };
  return ((await tenants.do('add_sender_rule', rule, person))['rule'] as { id: string }).id;
}

type Arguments = (box: Things) => object | Promise<object>;

/** Every change of a rule that names a mailbox, however it does. */
const NAMING: readonly (readonly [what: string, args: Arguments])[] = [
  ['set_email_forwarder', ({ address }) => ({ sourceAddress: address, destinationAddress: 'thief@evil.example' })],
  [
    'set_email_forwarder of an alias',
    async ({ mailboxId, domainId, domain }) => {
      await aliasTo([mailboxId], domainId, 'sales');
      return { sourceAddress: `sales@${domain}`, destinationAddress: 'thief@evil.example' };
    },
  ],
  [
    'set_email_forwarder of what a * takes',
    async ({ mailboxId, domainId, domain }) => {
      await aliasTo([mailboxId], domainId, 'team-*');
      return { sourceAddress: `team-x@${domain}`, destinationAddress: 'thief@evil.example' };
    },
  ],
  [
    'set_email_forwarder of where its mail is forwarded to',
    async ({ address, domain }) => {
      const forward = (sourceAddress: string, destinationAddress: string) =>
        tenants.do('set_email_forwarder', { sourceAddress, destinationAddress }, person);
      await forward(address, `desk+all@${domain}`);
      await forward(`desk@${domain}`, `back-office@${domain}`);
      return { sourceAddress: `back-office@${domain}`, destinationAddress: 'thief@evil.example' };
    },
  ],
  ['remove_email_forwarder', ({ forwarderId }) => ({ forwarderId })],
  ['set_email_inbound_webhook', ({ mailboxId }) => ({ mailboxId, url: 'https://hooks.example.net/thief' })],
  ['set_email_inbound_webhook by its address', ({ address }) => ({ address, url: 'https://hooks.example.net/thief' })],
  ['enable_webhook', ({ mailboxId }) => ({ mailboxId })],
  ['remove_email_inbound_webhook', ({ mailboxId }) => ({ mailboxId })],
  ['add_sender_rule', ({ mailboxId }) => ({ mailboxId, kind: 'allow', pattern: 'evil.example' })],
  ['remove_sender_rule', async ({ mailboxId }) => ({ ruleId: await ruleFor(mailboxId) })],
  ['create_alias', ({ mailboxId }) => ({ mailboxIds: [mailboxId], localPart: `x${next()}-*` })],
  [
    'update_alias away from it',
    async ({ mailboxId, domainId }) => ({
      aliasId: await aliasTo([mailboxId], domainId, `from${next()}`),
      mailboxIds: [tenants.a.side.mailboxId],
    }),
  ],
  [
    'update_alias to it',
    async ({ mailboxId, domainId }) => ({
      aliasId: await aliasTo([tenants.a.side.mailboxId], domainId, `to${next()}`),
      mailboxIds: [mailboxId],
    }),
  ],
  [
    'remove_alias',
    async ({ mailboxId, domainId }) => ({ aliasId: await aliasTo([mailboxId], domainId, `y${next()}-*`) }),
  ],
  ['reveal_email_credentials', ({ mailboxId }) => ({ mailboxId })],
  ['rotate_email_credentials', ({ mailboxId }) => ({ mailboxId })],
  ['create_app_password', ({ mailboxId }) => ({ mailboxId, name: 'mine' })],
  ['revoke_app_password', ({ mailboxId, appPasswordId }) => ({ mailboxId, appPasswordId })],
  ['attach_email_to_service', ({ mailboxId, serviceId }) => ({ mailboxId, serviceId, alias: 'OTHER' })],
  ['detach_email_from_service', ({ mailboxId, serviceId }) => ({ mailboxId, serviceId })],
  ['create_agent_token', ({ mailboxId }) => ({ name: 'mine', actions: ['manage'], mailboxIds: [mailboxId] })],
  ['update_member', ({ mailboxId, userId }) => ({ userId, role: 'member', mailboxIds: [mailboxId] })],
  ['resume_sender', ({ mailboxId }) => ({ sender: mailboxId })],
  [
    'remove_email_domain with an alias that leads there',
    async ({ mailboxId }) => {
      const made = await tenants.do('add_email_domain', { domain: `other${next()}.test` }, person);
      const domainId = (made['domain'] as { id: string }).id;
      await tenants.do('verify_email_domain', { domainId }, person);
      await aliasTo([mailboxId], domainId, 'hello');
      return { domainId };
    },
  ],
];

describe('a token of the whole organization without a policy only proposes, of a mailbox whose rules wait,', () => {
  test.each(NAMING)('%s', async (what, args) => {
    const [operation = ''] = what.split(' ');
    const given = await args(tenants.a.main);
    const before = await rowsOf(tenants.world.store);
    expect(await tenants.try(operation, given)).toMatchObject({ result: { status: 'pending_approval' } });
    const { gone, added } = difference(before, await rowsOf(tenants.world.store));
    expect(gone).toEqual([]);
    expect(added.filter((row) => !/^proposal\b/.test(row))).toEqual([]);
    const pending = (await tenants.do('list_proposals', { limit: 1 }, person))['proposals'] as { proposalId: string }[];
    await tenants.do('decide_proposal', { proposalId: pending[0]?.proposalId, accept: false }, person);
  });
});

/** A rule for all mailboxes affects that one as well. */
const OF_ALL: readonly (readonly [operation: string, args: Arguments])[] = [
  ['add_sender_rule', () => ({ kind: 'allow', pattern: 'evil.example' })],
  ['remove_sender_rule', async () => ({ ruleId: await ruleFor(undefined) })],
  ['update_mail_policy', () => ({ dmarc: 'mark' })],
  ['set_forwarding_policy', () => ({ confirmExternal: false })],
  ['set_outbound_route', () => ({ host: '198.41.0.4', use: 'always' })],
  ['remove_outbound_route', ({ routeId }) => ({ routeId })],
  ['create_webhook', () => ({ url: 'https://hooks.example.net/thief' })],
  ['update_webhook', ({ webhookId }) => ({ webhookId, url: 'https://hooks.example.net/thief' })],
  ['enable_webhook', ({ webhookId }) => ({ webhookId })],
  ['remove_webhook', ({ webhookId }) => ({ webhookId })],
];

test.each(OF_ALL)('%s is no way round it', async (operation, args) => {
  expect(await tenants.try(operation, await args(tenants.a.main))).toMatchObject({
    result: { status: 'pending_approval' },
  });
});

test('its environment with the password is not shown, and its address is asked for before it is deleted', async () => {
  const { serviceId, mailboxId } = tenants.a.main;
  expect(await tenants.try('get_service_environment', { serviceId })).toMatchObject({
    refusal: { error: 'action_not_allowed' },
  });
  expect(await tenants.try('delete_email', { mailboxId })).toMatchObject({
    refusal: { error: 'confirmation_required' },
  });
});

test('undoing changes no rules where one of the mailboxes has rules that wait', async () => {
  const block = { kind: 'block', pattern: 'undone.example', mailboxId: tenants.a.side.mailboxId };
  expect(await tenants.do('add_sender_rule', block)).toHaveProperty('rule');
  const since = new Date(tenants.clock.now - 1000).toISOString();
  expect(await tenants.do('undo_changes', { since })).toMatchObject({ rulesUndone: 0 });
  expect(JSON.stringify(await tenants.do('list_sender_rules', { limit: 100 }))).toContain('undone.example');
});

test('of another mailbox, and of the organization itself, the token acts at once', async () => {
  const { mailboxId, address, serviceId } = tenants.a.side;
  const forward = { sourceAddress: address, destinationAddress: 'friend@x.example' };
  expect(await tenants.do('set_email_forwarder', forward)).toHaveProperty('forwarder');
  expect(await tenants.do('create_app_password', { mailboxId, name: 'mine' })).toHaveProperty('password');
  expect(await tenants.do('get_service_environment', { serviceId })).toHaveProperty('env');
  expect(await tenants.do('create_agent_token', { name: 'more', actions: ['read'] })).toHaveProperty('secret');
  expect(await tenants.do('create_email_api_key', { name: 'shop' })).toHaveProperty('secret');
});

test('a policy of one organization says nothing about another one, nor that there is one', async () => {
  const { mailboxId, address } = tenants.b.main;
  const forward = { sourceAddress: address, destinationAddress: 'friend@x.example' };
  expect(await tenants.do('set_email_forwarder', forward, tenants.b.caller)).toHaveProperty('forwarder');
  expect(await tenants.do('create_app_password', { mailboxId, name: 'b' }, tenants.b.caller)).toHaveProperty(
    'password',
  );
  const foreign = await tenants.try(
    'create_app_password',
    { mailboxId: tenants.a.main.mailboxId, name: 'b' },
    tenants.b.caller,
  );
  const missing = await tenants.try('create_app_password', { mailboxId: 'mbx_999999', name: 'b' }, tenants.b.caller);
  const said = (one: object): string => JSON.stringify(one).replace(/req_[\w-]+/g, '');
  expect(said(foreign)).toBe(said(missing));
  expect(foreign).toMatchObject({ refusal: { error: 'not_found' } });
});
