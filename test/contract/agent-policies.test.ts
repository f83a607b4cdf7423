import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { effectiveAgentPolicy } from '../../mail/agents/policy/effective-policy.ts';
import { PRESET_POLICIES, type Preset } from '../../mail/agents/policy/presets.ts';
import { DEFAULT_POLICY } from '../../mail/agents/gate/types.ts';
import { removeAccount } from '../../mail/store/account/account-removal.ts';
import {
  agentPoliciesOf,
  attachAgentPolicy,
  MAX_AGENT_POLICIES,
  removeAgentPolicy,
  saveAgentPolicy,
} from '../../mail/agents/policy/policies.ts';
import { command } from '../../mail/store/engine/types.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const dismiss = command('test-dismiss', (tx, account: number) => removeAccount(tx, { tenant: 1, account }));

let box: TestStore;
let anna: number;
let bert: number;
beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, dismiss] });
  ({ account: anna } = await testAccount(box.store, 'anna'));
  ({ account: bert } = await testAccount(box.store, 'bert'));
});
afterEach(() => box[Symbol.asyncDispose]());

const save = (name: string, preset: Preset = 'custom', tenant = 1, id: number | null = null) =>
  box.store.write(saveAgentPolicy, {
    tenant,
    id,
    name,
    preset,
    rules: JSON.stringify(PRESET_POLICIES[preset]),
    attach: null,
  });

async function saved(name: string, preset: Preset = 'custom', tenant = 1): Promise<number> {
  const done = await save(name, preset, tenant);
  if (done.kind !== 'saved') throw new Error(done.kind);
  return done.id;
}

const attach = (policy: number | null, target: { account: number } | { credential: string }, tenant = 1) =>
  box.store.write(attachAgentPolicy, { tenant, policy, target });
const over = (accounts: number[], credential: string | null = null, tenant = 1) =>
  box.store.read(effectiveAgentPolicy, { tenant, accounts, credential });

describe('what holds for an agent', () => {
  test('is what holds everywhere until somebody chooses', async () => {
    await saved('unused', 'signup-bot');
    expect(await over([anna], 'tok_1')).toEqual({ policy: DEFAULT_POLICY, governed: false, chosen: [] });
  });

  test('is the policy of its mailbox, of its token, or the strictest of both', async () => {
    const login = await saved('Desk', 'support-desk');
    const team = await saved('Team', 'trusted-internal');
    await attach(login, { account: anna });
    await attach(team, { credential: 'tok_1' });
    expect(await over([anna])).toMatchObject({ governed: true, policy: PRESET_POLICIES['support-desk'] });
    expect(await over([bert], 'tok_1')).toMatchObject({ governed: true, policy: PRESET_POLICIES['trusted-internal'] });
    const both = await over([anna, bert], 'tok_1');
    expect(both.chosen.map(({ name, over: what }) => [name, what])).toEqual([
      ['Team', 'token'],
      ['Desk', 'mailbox'],
    ]);
    expect(both.policy).toMatchObject({ sends: 'replies', budgets: { newRecipientsPerHour: 3, messagesPerHour: 60 } });
    expect(await over([bert], 'tok_2')).toMatchObject({ governed: false });
  });

  test('changes with the policy, and with what it is attached to; a mailbox has one', async () => {
    const id = await saved('P', 'custom');
    await attach(id, { account: anna });
    await save('P', 'signup-bot', 1, id);
    expect((await over([anna])).policy.sends).toBe('nobody');
    const other = await saved('Q', 'support-desk');
    await attach(other, { account: anna });
    expect((await over([anna])).chosen.map((one) => one.name)).toEqual(['Q']);
    expect(await attach(null, { account: anna })).toEqual({ kind: 'detached' });
    expect((await over([anna])).governed).toBe(false);
  });

  test('is still so after a restart', async () => {
    await attach(await saved('P', 'signup-bot'), { credential: 'tok_7' });
    await box.reopen();
    expect((await over([], 'tok_7')).policy.sends).toBe('nobody');
  });
});

describe('another organization', () => {
  test('neither attaches, changes nor removes what is not its own, nor is held to it', async () => {
    const own = await saved('Own');
    expect(await attach(own, { account: anna }, 2)).toEqual({ kind: 'missing' });
    expect(await attach(null, { account: anna }, 2)).toEqual({ kind: 'missing' });
    expect(await save('Taken over', 'custom', 2, own)).toEqual({ kind: 'missing' });
    expect(await box.store.write(removeAgentPolicy, { tenant: 2, id: own })).toEqual({ kind: 'missing' });
    await attach(own, { credential: 'tok_1' });
    expect((await over([], 'tok_1', 2)).governed).toBe(false);
    expect(await box.store.read(agentPoliciesOf, { tenant: 2 })).toEqual([]);
    expect(await save('Own', 'custom', 2)).toMatchObject({ kind: 'saved' });
  });
});

describe('a policy', () => {
  test('has a name of its own', async () => {
    const first = await saved('One');
    expect(await save('One')).toEqual({ kind: 'name-taken' });
    expect(await save('One', 'custom', 1, first)).toEqual({ kind: 'saved', id: first });
    const second = await saved('Two');
    expect(await save('One', 'custom', 1, second)).toEqual({ kind: 'name-taken' });
  });

  test('is removed when it holds nowhere: nothing gets free by it', async () => {
    const id = await saved('P');
    await attach(id, { account: anna });
    expect(await box.store.write(removeAgentPolicy, { tenant: 1, id })).toEqual({ kind: 'attached' });
    await box.store.write(dismiss, anna);
    expect(await box.store.write(removeAgentPolicy, { tenant: 1, id })).toEqual({ kind: 'removed' });
    expect(await box.store.write(removeAgentPolicy, { tenant: 1, id })).toEqual({ kind: 'missing' });
  });

  test('is one of a hundred at most', async () => {
    for (let i = 0; i < MAX_AGENT_POLICIES; i++) await saved(`P${i}`);
    expect(await save('One more')).toEqual({ kind: 'too-many' });
    expect((await box.store.read(agentPoliciesOf, { tenant: 1 })).length).toBe(MAX_AGENT_POLICIES);
  });

  test('says what it is attached to', async () => {
    const id = await saved('P');
    await attach(id, { account: anna });
    await attach(id, { account: bert });
    await attach(id, { credential: 'tok_3' });
    const [row] = await box.store.read(agentPoliciesOf, { tenant: 1 });
    expect(row).toMatchObject({ id, name: 'P', accounts: [anna, bert], credentials: ['tok_3'] });
  });
});
