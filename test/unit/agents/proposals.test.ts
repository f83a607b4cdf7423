import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command, query } from '../../../mail/store/engine/types.ts';
import type { Caller } from '../../../src/core/caller.ts';
import { operatorCaller } from '../../../src/core/caller.ts';
import { CATALOGUE, FOR_PEOPLE } from '../../../src/operations/catalogue.ts';
import { POLICY_DECISIONS } from '../../../src/operations/policies/index.ts';
import { rowId } from '../../../src/core/ids.ts';
import {
  decideProposal,
  purgeProposals,
  PROPOSAL_RETENTION_MS,
  MAX_PER_TOKEN,
} from '../../../src/agents/proposal-commands.ts';
import { sampleOf } from '../../support/operation-samples.ts';
import { difference, rowsOf } from '../../support/rows.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

const DAY = 86_400_000;
const sealedOctets = query('test-sealed-octets', async (rx, proposalId: string): Promise<number | undefined> => {
  const row = await rx.get<{ n: number }>(
    'SELECT length(input) AS n FROM proposal WHERE id = ?',
    Number(proposalId.slice(4)),
  );
  return row?.n;
});

const setActions = command(
  'test-set-actions',
  async (tx, { id, actions }: { id: number; actions: string }): Promise<void> => {
    await tx.run('UPDATE token SET actions = ? WHERE id = ?', actions, id);
  },
);

let tenants: Tenants;
let owner: Caller;
let stranger: Caller;
let policyId: string;
beforeAll(async () => {
  tenants = await twoTenants({}, [setActions]);
  owner = person(tenants.a.main.organizationId);
  stranger = person(tenants.b.main.organizationId);
  ({ policyId } = tenants.a.main);
});
afterAll(() => tenants[Symbol.asyncDispose]());

const person = (organizationId: string): Caller => ({
  ...operatorCaller(rowId('organization', organizationId)),
  kind: 'user',
  actor: 'usr_1',
  actorName: 'owner@home.test',
  way: 'portal',
  user: { id: 1, role: 'owner' },
});

/** A token that may everything, under a policy whose rules wait. */
async function governed(args: object = {}): Promise<Caller> {
  return tenants.caller({ actions: ['read', 'manage', 'deploy', 'rollback'], agentPolicyId: policyId, ...args });
}

const forward = (n: number): object => ({
  sourceAddress: tenants.a.main.address,
  destinationAddress: `thief${n}@evil.example`,
});
const forwards = async (): Promise<string> => JSON.stringify(await tenants.do('list_email_forwarders', { limit: 100 }));

async function propose(by: Caller, name: string, args: object): Promise<string> {
  const done = await tenants.do(name, args, by);
  expect(done).toMatchObject({ status: 'pending_approval' });
  return String(done['proposalId']);
}
const decide = (proposalId: string, accept: boolean, by = owner) =>
  tenants.do('decide_proposal', { proposalId, accept }, by);

let n = 0;
const next = (): number => ++n;

describe('a change of a rule by a token under a policy', () => {
  test('does nothing until a person accepts, and then exactly that', async () => {
    const by = await governed();
    const proposalId = await propose(by, 'set_email_forwarder', { ...forward(1), keepLocalCopy: false });
    expect(await forwards()).not.toContain('thief1');
    const [listed] = (await tenants.do('list_proposals', {}, owner))['proposals'] as Record<string, unknown>[];
    expect(listed).toMatchObject({
      proposalId,
      state: 'pending',
      tokenId: by.actor,
      title: 'Forward an address',
      arguments: { destinationAddress: 'thief1@evil.example', keepLocalCopy: 'false' },
    });
    expect(await decide(proposalId, true)).toMatchObject({ state: 'accepted', outcome: 'done' });
    expect(await forwards()).toContain('"destinationAddress":"thief1@evil.example","keepLocalCopy":false');
    expect((await tenants.do('list_proposals', {}, by))['proposals']).toMatchObject([
      { proposalId, state: 'accepted', outcome: 'done', decidedBy: 'owner@home.test', arguments: {} },
    ]);
  });

  test('of what programs send as well: the template stays as it is, and is shown by its name', async () => {
    const { templateId } = tenants.a.main;
    const template = () => tenants.do('get_email_template', { templateId });
    const before = await template();
    const by = await governed();
    const spoilt = { templateId, subject: 'Pay here', text: 'Pay at https://evil.example/' };
    const proposalId = await propose(by, 'update_email_template', spoilt);
    const gone = await propose(by, 'delete_email_template', { templateId });
    expect(await template()).toEqual(before);
    const { name } = before['template'] as { name: string };
    const [, listed] = (await tenants.do('list_proposals', {}, owner))['proposals'] as Record<string, unknown>[];
    expect(listed?.['arguments']).toMatchObject({ templateId: `${name} (${templateId})`, text: spoilt.text });
    await decide(gone, false);
    await decide(proposalId, true);
    expect(await template()).toMatchObject({ template: { version: 2, text: spoilt.text } });
  });

  test('is shown whole to who decides: nothing hides behind what is long', async () => {
    const by = await governed({ mailboxIds: [tenants.a.main.mailboxId] });
    const harmless = Array.from({ length: 100 }, (_, i) => `colleague${i}@home.example`);
    const args = { tokenId: by.actor, allow: [...harmless, 'evil.example'] };
    const proposalId = await propose(by, 'propose_agent_policy', args);
    const [listed] = (await tenants.do('list_proposals', {}, owner))['proposals'] as { arguments: { allow: string } }[];
    expect(listed?.arguments.allow).toMatch(/colleague99@home\.example, evil\.example ⟨/);
    await decide(proposalId, false);
  });

  test('shows what nobody sees, and what is too long to be read by its hash', async () => {
    const by = await governed({ name: 'helper\u202e\u200b' });
    const args = {
      tokenId: by.actor,
      name: 'frее',
      allow: Array.from({ length: 150 }, (_, i) => `a${i}@home.example`),
    };
    const proposalId = await propose(by, 'propose_agent_policy', args);
    const [listed] = (await tenants.do('list_proposals', {}, owner))['proposals'] as {
      tokenName: string;
      arguments: Record<string, string>;
    }[];
    expect(listed?.tokenName).toBe('helper⟨U+202E⟩⟨U+200B⟩');
    expect(listed?.arguments).toMatchObject({
      tokenId: `helper⟨U+202E⟩⟨U+200B⟩ (${by.actor})`,
      name: 'frее⟨other letters: U+0435⟩',
      allow: expect.stringMatching(/a149@home\.example ⟨\d+ characters, SHA-256 [0-9a-f]{64}⟩$/) as unknown,
    });
    await decide(proposalId, false);
  });

  test('that is refused is gone, and nobody accepts it afterwards', async () => {
    const proposalId = await propose(await governed(), 'set_email_forwarder', forward(2));
    expect(await decide(proposalId, false)).toMatchObject({ state: 'refused', outcome: null });
    expect(await tenants.try('decide_proposal', { proposalId, accept: true }, owner)).toMatchObject({
      refusal: { error: 'conflict' },
    });
    expect(await forwards()).not.toContain('thief2');
  });

  test('is done once, however many accept at once', async () => {
    const proposalId = await propose(await governed(), 'create_email_api_key', { name: `once ${next()}` });
    const said = await Promise.all(
      [1, 2, 3].map(() => tenants.try('decide_proposal', { proposalId, accept: true }, owner)),
    );
    expect(said.map((one) => one.kind).toSorted()).toEqual(['done', 'refused', 'refused']);
    const keys = JSON.stringify(await tenants.do('list_email_api_keys', { limit: 100 }));
    expect(keys.split(`once ${n}`)).toHaveLength(2);
  });

  test('does nothing when its token was revoked, or ended, meanwhile', async () => {
    const revoked = await governed();
    const ending = await governed({ expiresAt: new Date(tenants.clock.now + DAY).toISOString() });
    const ids = [
      await propose(revoked, 'set_email_forwarder', forward(3)),
      await propose(ending, 'set_email_forwarder', forward(4)),
    ];
    await tenants.do('revoke_agent_token', { tokenId: revoked.actor });
    tenants.clock.now += DAY;
    for (const id of ids) expect(await decide(id, true)).toMatchObject({ outcome: 'token_gone', result: null });
    expect(await forwards()).not.toMatch(/thief[34]/);
  });

  test('is done with the rights of the token, not of who accepts', async () => {
    const by = await governed({ mailboxIds: [tenants.a.main.mailboxId] });
    const args = { sourceAddress: tenants.a.side.address, destinationAddress: 'thief5@evil.example' };
    expect(await decide(await propose(by, 'set_email_forwarder', args), true)).toMatchObject({
      outcome: 'out_of_scope',
    });
    expect(await forwards()).not.toContain('thief5');
  });

  test('is done with what the token might do then and may do now', async () => {
    const limited = await governed({ actions: ['read', 'manage'] });
    const id = limited.token?.id ?? 0;
    const more = await propose(limited, 'create_agent_token', { name: 'more', actions: ['deploy'] });
    await tenants.world.store.write(setActions, { id, actions: 'read manage deploy' });
    expect(await decide(more, true)).toMatchObject({ outcome: 'action_not_allowed' });
    const less = await propose(limited, 'set_email_forwarder', forward(10));
    await tenants.world.store.write(setActions, { id, actions: 'read' });
    expect(await decide(less, true)).toMatchObject({ outcome: 'action_not_allowed' });
    expect(await forwards()).not.toContain('thief10@');
  });

  test('of its own policy changes nothing until it is accepted; what it makes is under the same', async () => {
    const by = await governed();
    const queried = { tokenId: by.actor, name: 'Freedom', sends: 'anybody', rulesWait: false };
    const proposalId = await propose(by, 'propose_agent_policy', queried);
    expect(await tenants.do('get_agent_policy', {}, by)).toMatchObject({
      rules: { sends: 'replies', rulesWait: true },
    });
    const [{ changes }] = (await tenants.do('list_proposals', { limit: 1 }, owner))['proposals'] as [
      { changes: string[] },
    ];
    expect(changes).toContain('Now allowed: Write to anybody');
    await decide(proposalId, true);
    expect(await tenants.do('get_agent_policy', {}, by)).toMatchObject({
      policies: [{ name: 'Freedom', over: 'token' }],
      rules: { sends: 'anybody', rulesWait: false },
    });
    const child = await tenants.caller({ actions: ['read'] }, by);
    expect(await tenants.do('get_agent_policy', {}, child)).toMatchObject({ policies: [{ name: 'Freedom' }] });
    const out = { name: 'out', actions: ['read'], agentPolicyId: policyId };
    expect(await tenants.try('create_agent_token', out, by)).toMatchObject({
      refusal: { error: 'action_not_allowed', requiredAction: 'person' },
    });
  });

  test('is over after a week, and forgotten a month later', async () => {
    const proposalId = await propose(await governed(), 'set_email_forwarder', forward(6));
    tenants.clock.now += 7 * DAY;
    expect(await tenants.try('decide_proposal', { proposalId, accept: true }, owner)).toMatchObject({
      refusal: { error: 'conflict' },
    });
    const state = async (): Promise<string> => JSON.stringify(await tenants.do('list_proposals', {}, owner));
    expect(await state()).toContain('"expired"');
    tenants.clock.now += PROPOSAL_RETENTION_MS;
    await tenants.world.store.writeSlice(purgeProposals, undefined);
    expect(await state()).not.toContain(proposalId);
  });

  test('asked for again is the same proposal; a token has twenty that wait', async () => {
    const by = await governed();
    const first = await propose(by, 'set_email_forwarder', forward(7));
    expect(await propose(by, 'set_email_forwarder', forward(7))).toBe(first);
    for (let i = 1; i < MAX_PER_TOKEN; i++) await propose(by, 'set_email_forwarder', forward(100 + i));
    expect(await tenants.try('set_email_forwarder', forward(8), by)).toMatchObject({ refusal: { error: 'conflict' } });
  });

  test('of a policy replaces the one of the same token for the same target, and not that of another one', async () => {
    const [by, other] = [await governed(), await governed()];
    const { mailboxId } = tenants.a.main;
    const old = await propose(by, 'propose_agent_policy', { mailboxId, preset: 'support-desk' });
    const newer = await propose(by, 'propose_agent_policy', { mailboxId, preset: 'signup-bot' });
    expect(await tenants.try('decide_proposal', { proposalId: old, accept: true }, owner)).toMatchObject({
      refusal: { error: 'conflict', message: 'The proposal was already replaced.' },
    });
    expect(await tenants.try('propose_agent_policy', { mailboxId, preset: 'custom' }, other)).toMatchObject({
      refusal: { error: 'conflict', proposalId: newer },
    });
    await decide(newer, false);
  });

  test('stays sealed while it waits, and leaves nothing of its arguments behind', async () => {
    const by = await governed();
    const secret = 'hunter-two-hunter-two';
    const args = { mailboxId: tenants.a.main.mailboxId, password: secret };
    const proposalId = await propose(by, 'rotate_email_credentials', args);
    const rows = async (): Promise<string> => JSON.stringify([...(await rowsOf(tenants.world.store))]);
    expect(await rows()).not.toContain(secret);
    const listed = JSON.stringify(await tenants.do('list_proposals', {}, owner));
    expect(listed).toContain('"password":"(hidden)"');
    expect(listed).toContain(`"mailboxId":"${tenants.a.main.address} (${tenants.a.main.mailboxId})"`);
    await decide(proposalId, false);
    expect(await tenants.world.store.read(sealedOctets, proposalId)).toBe(0);
  });

  test('stands in the audit log when it is proposed, decided and done', async () => {
    const by = await governed();
    const proposalId = await propose(by, 'set_email_forwarder', forward(9));
    await decide(proposalId, true);
    const { events } = (await tenants.do('list_audit_events', { limit: 3 })) as { events: Record<string, unknown>[] };
    expect(events.map(({ operation, outcome, actor, way }) => [operation, outcome, actor, way])).toEqual([
      ['set_email_forwarder', 'set', by.actor, 'portal'],
      ['decide_proposal', 'accepted', 'usr_1', 'portal'],
      ['set_email_forwarder', 'pending', by.actor, 'mcp'],
    ]);
  });
});

test('to delete a mailbox a token under a policy says its address', async () => {
  const { mailbox } = (await tenants.do('provision_email', {
    domainId: tenants.a.main.domainId,
    localPart: 'short-lived',
  })) as { mailbox: { id: string; address: string } };
  const { id: mailboxId, address } = mailbox;
  const by = await governed();
  expect(await tenants.try('delete_email', { mailboxId }, by)).toMatchObject({
    refusal: { error: 'confirmation_required', confirm: address },
  });
  expect(await tenants.do('delete_email', { mailboxId, confirm: address }, by)).toMatchObject({ deleted: true });
});

describe('of an operation that changes a rule', () => {
  const ruling = CATALOGUE.filter((one) => one.rule !== undefined);

  test('there are these', () => {
    expect(ruling.map((one) => one.name).toSorted()).toEqual([
      'add_email_domain',
      'add_sender_rule',
      'add_suppression',
      'attach_email_to_service',
      'cancel_queue_item',
      'cancel_scheduled_email',
      'create_account_and_claim_link',
      'create_agent_token',
      'create_alias',
      'create_app_password',
      'create_email_api_key',
      'create_own_organization',
      'create_webhook',
      'delete_email_template',
      'deploy_service',
      'detach_email_from_service',
      'enable_webhook',
      'freeze_organization',
      'invite_member',
      'provision_email',
      'register_recovery_key',
      'remove_alias',
      'remove_ban',
      'remove_email_domain',
      'remove_email_forwarder',
      'remove_email_inbound_webhook',
      'remove_member',
      'remove_organization',
      'remove_outbound_route',
      'remove_sender_rule',
      'remove_suppression',
      'remove_webhook',
      'restore_email',
      'restore_organization',
      'restore_service',
      'resume_sender',
      'reveal_email_credentials',
      'revoke_agent_token',
      'revoke_app_password',
      'revoke_email_api_key',
      'revoke_recovery_key',
      'rollback_service',
      'rotate_dkim_keys',
      'rotate_email_credentials',
      'set_dmarc_policy',
      'set_email_forwarder',
      'set_email_inbound_webhook',
      'set_forwarding_policy',
      'set_mta_sts',
      'set_outbound_route',
      'set_sign_in_policy',
      'start_import',
      'steer_queue',
      'unfreeze_organization',
      'update_alias',
      'update_email',
      'update_email_template',
      'update_mail_policy',
      'update_member',
      'update_webhook',
      'verify_recovery_key',
      'withdraw_outbox_item',
    ]);
  });

  /** Arguments that make a conditional operation a rule. */
  const RULING: Readonly<Record<string, () => object | Promise<object>>> = {
    add_sender_rule: () => ({ kind: 'allow' }),
    create_alias: () => ({ localPart: '*' }),
    provision_email: () => ({ attachServiceId: 'svc_1' }),
    start_import: () => ({ imap: { host: '192.0.2.7', user: 'me', password: 'secret' } }),
    steer_queue: () => ({ action: 'cancel', route: undefined }),
    update_email: () => ({ quotaBytes: 1_000_000 }),
    remove_alias: async () => {
      const { mailboxId, domainId } = tenants.a.side;
      const made = await tenants.do('create_alias', {
        mailboxIds: [mailboxId],
        domainId,
        localPart: `wide${next()}-*`,
      });
      return { aliasId: (made['alias'] as { id: string }).id };
    },
  };
  const forTenants = ruling.filter(({ operatorOnly }) => operatorOnly !== true);

  test.each(forTenants)(
    '$name changes nothing for a token under a policy but what waits and the log',
    async (operation) => {
      const by = await governed();
      const args = { ...sampleOf(operation, tenants.a.side), ...(await RULING[operation.name]?.()) };
      const before = await rowsOf(tenants.world.store);
      await propose(by, operation.name, args);
      const { gone, added } = difference(before, await rowsOf(tenants.world.store));
      expect(gone).toEqual([]);
      expect(added.filter((row) => !/^proposal\b/.test(row))).toEqual([]);
    },
  );

  test('what only narrows is done at once', async () => {
    const by = await governed();
    const rule = { mailboxId: tenants.a.main.mailboxId, kind: 'allow', pattern: 'x.example' };
    const { rule: allowed } = (await tenants.do('add_sender_rule', rule)) as {
      rule: { id: string };
    };
    expect(await tenants.do('remove_sender_rule', { ruleId: allowed.id }, by)).toEqual({ removed: true });
    const mailboxIds = [tenants.a.main.mailboxId];
    const { alias } = (await tenants.do('create_alias', { mailboxIds }, by)) as { alias: { id: string } };
    expect(await tenants.do('update_alias', { aliasId: alias.id, note: 'for a shop' }, by)).toHaveProperty('alias');
  });

  test('of the whole box is proposed by a token of the operator as well', async () => {
    const operator = operatorCaller();
    const rules = { name: 'For agents of the operator', preset: 'support-desk' };
    const { policyId: agentPolicyId } = await tenants.do('save_agent_policy', rules, operator);
    const by = await tenants.caller({ actions: ['manage'], agentPolicyId }, operator);
    const targetOrganizationId = tenants.b.main.organizationId;
    for (const [name, args] of [
      ['freeze_organization', { targetOrganizationId }],
      ['unfreeze_organization', { targetOrganizationId }],
      ['remove_organization', { targetOrganizationId, confirm: tenants.b.main.slug }],
      ['restore_organization', { targetOrganizationId }],
      ['remove_ban', { address: '192.0.2.1' }],
    ] as const) {
      await propose(by, name, args);
    }
    expect(await tenants.do('whoami', {}, tenants.b.caller)).toHaveProperty('organization');
  });

  test('a token ends itself and what it made at once, and proposes to end others', async () => {
    const by = await governed();
    const proposalId = await propose(by, 'create_agent_token', { name: 'helper', actions: ['read'] });
    const { result } = (await decide(proposalId, true)) as { result: { token: { id: string } } };
    const { token: narrow } = (await tenants.do(
      'create_narrow_token',
      { mailbox: tenants.a.main.mailboxId, name: 'n' },
      by,
    )) as {
      token: { id: string };
    };
    const other = await governed();
    await propose(by, 'revoke_agent_token', { tokenId: other.actor });
    await propose(other, 'revoke_agent_token', { tokenId: narrow.id });
    expect(await tenants.do('whoami', {}, other)).toHaveProperty('organization');
    for (const tokenId of [narrow.id, result.token.id, by.actor]) {
      expect(await tenants.do('revoke_agent_token', { tokenId }, by)).toMatchObject({ revoked: true });
    }
  });

  test('a token without a policy acts at once, and so does one whose policy lets it', async () => {
    expect(await tenants.do('set_email_forwarder', forward(20))).toHaveProperty('forwarder');
    const made = await tenants.do('save_agent_policy', { name: 'Trusted', rulesWait: false }, owner);
    const by = await governed({ agentPolicyId: made['policyId'] });
    expect(await tenants.do('set_email_forwarder', forward(21), by)).toHaveProperty('forwarder');
  });

  test('the policy of the mailboxes that a token is limited to holds for it', async () => {
    const { mailboxId } = tenants.a.side;
    const by = await tenants.caller({ actions: ['manage'], mailboxIds: [mailboxId] });
    await tenants.do('attach_agent_policy', { mailboxId, policyId }, owner);
    await propose(by, 'create_app_password', { mailboxId, name: 'mine' });
    await tenants.do('attach_agent_policy', { mailboxId }, owner);
    expect(await tenants.do('create_app_password', { mailboxId, name: 'mine' }, by)).toHaveProperty('password');
  });

  test('the environment of a service, which holds passwords, is not shown', async () => {
    const { serviceId } = tenants.a.main;
    expect(await tenants.try('get_service_environment', { serviceId }, await governed())).toMatchObject({
      refusal: { error: 'action_not_allowed' },
    });
    expect(await tenants.do('get_service_environment', { serviceId })).toHaveProperty('env');
  });
});

describe('what a person decides', () => {
  test.each(FOR_PEOPLE)('$name is refused to every token, and listed for none', async (operation) => {
    const before = await rowsOf(tenants.world.store);
    for (const by of [tenants.a.caller, await governed()]) {
      expect(await tenants.try(operation.name, peopleSample(operation.name), by)).toMatchObject({
        refusal: { error: 'action_not_allowed', requiredAction: 'person' },
      });
    }
    const { gone } = difference(before, await rowsOf(tenants.world.store));
    expect(gone).toEqual([]);
    expect(CATALOGUE.includes(operation)).toBe(false);
  });

  test('is no member’s, who has some mailboxes', async () => {
    const member: Caller = {
      ...owner,
      user: { id: 2, role: 'member' },
      mailboxes: [rowId('mailbox', tenants.a.main.mailboxId) ?? 0],
    };
    for (const { name } of POLICY_DECISIONS) {
      expect(await tenants.try(name, peopleSample(name), member), name).toMatchObject({
        refusal: { error: 'out_of_scope' },
      });
    }
    await propose(await governed(), 'set_email_forwarder', forward(30));
    expect(await tenants.do('list_proposals', {}, member)).toMatchObject({ proposals: [] });
  });

  test('is nothing of another organization: foreign and missing look alike', async () => {
    const proposalId = await propose(await governed(), 'set_email_forwarder', forward(31));
    const foreign = await tenants.try('decide_proposal', { proposalId, accept: true }, stranger);
    const missing = await tenants.try('decide_proposal', { proposalId: 'pro_999999', accept: true }, stranger);
    expect(foreign).toMatchObject({ refusal: { error: 'not_found' } });
    expect(withoutId(foreign)).toEqual(withoutId(missing));
    expect(JSON.stringify(await tenants.do('list_proposals', {}, stranger))).not.toContain(proposalId);
    const decision = { organization: rowId('organization', tenants.b.main.organizationId) ?? 0, accept: true, by: 'x' };
    expect(
      await tenants.world.store.write(decideProposal, { ...decision, id: rowId('proposal', proposalId) ?? 0 }),
    ).toEqual({ kind: 'missing' });
    await decide(proposalId, false);
  });
});

function withoutId(said: object): string {
  return JSON.stringify(said).replace(/req_[\w-]+/g, '');
}

function peopleSample(name: string): object {
  const { mailboxId } = tenants.a.main;
  const samples: Record<string, object> = {
    save_agent_policy: { preset: 'signup-bot' },
    attach_agent_policy: { mailboxId, policyId },
    remove_agent_policy: { policyId },
    decide_proposal: { proposalId: 'pro_1', accept: true },
  };
  return samples[name] ?? {};
}
