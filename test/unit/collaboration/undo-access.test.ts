import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { command } from '../../../mail/store/engine/types.ts';
import type { Caller } from '../../../src/core/caller.ts';
import { operatorCaller } from '../../../src/core/caller.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

/** More changes of rules than are kept, of somebody who wants older ones forgotten. */
const flood = command('test-flood', async (tx, { who, at }: { who: string; at: number }): Promise<void> => {
  await tx.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5100)
     INSERT INTO agent_rule_change (tenant, actor, at, kind)
     SELECT t.organization_id, ?1, ?2, 'sender-rule' FROM n JOIN token t ON t.id = ?3`,
    who,
    at,
    Number(who.slice(4)),
  );
});

let tenants: Tenants;
let agent: Caller;
let since: string;
const ended: string[] = [];
beforeAll(async () => {
  const revoked = (_account: number, credentials: readonly number[] = []): void => {
    ended.push(...credentials.map((id) => `pwd_${id}`));
  };
  tenants = await twoTenants({ revoked }, [flood]);
});
afterAll(() => tenants[Symbol.asyncDispose]());
beforeEach(async () => {
  // A change in the millisecond before is outside of the time.
  tenants.clock.now += 1000;
  agent = await tenants.caller({ name: 'agent', actions: ['read', 'manage', 'mail_read', 'send'] });
  since = new Date(tenants.clock.now).toISOString();
  ended.length = 0;
});

const undo = (args: object = {}, caller = agent) => tenants.do('undo_changes', { since, ...args }, caller);

async function key(by: Caller): Promise<string> {
  const made = await tenants.do('create_email_api_key', { name: 'key' }, by);
  return (made['key'] as { id: string }).id;
}
async function password(by: Caller): Promise<string> {
  const { mailboxId } = tenants.a.main;
  const made = await tenants.do('create_app_password', { mailboxId, name: 'phone' }, by);
  return (made['appPassword'] as { id: string }).id;
}
async function token(by: Caller): Promise<string> {
  const made = await tenants.do('create_agent_token', { name: 'further', actions: ['read'] }, by);
  return (made['token'] as { id: string }).id;
}

async function holding(): Promise<string[]> {
  const { mailboxId } = tenants.a.main;
  const keys = (await tenants.do('list_email_api_keys', { limit: 100 }))['keys'] as { id: string; revoked: boolean }[];
  const all = (await tenants.do('list_agent_tokens', { limit: 100 }))['tokens'] as { id: string; revoked: boolean }[];
  const passwords = (await tenants.do('list_app_passwords', { mailboxId }))['appPasswords'] as { id: string }[];
  return [...[...keys, ...all].filter(({ revoked }) => !revoked), ...passwords].map(({ id }) => id);
}

describe('access that a token gave', () => {
  test('ends: tokens, API keys and app passwords, with the sessions of these; that of others and older stays', async () => {
    const old = await key(agent);
    tenants.clock.now += 1000;
    since = new Date(tenants.clock.now).toISOString();
    const before = await holding();
    const mine = [await key(tenants.a.caller), await password(tenants.a.caller), await token(tenants.a.caller)];
    const made = [await key(agent), await password(agent), await token(agent)];
    expect(await holding()).toEqual(expect.arrayContaining([...made, ...mine]));
    expect(await undo({ tokenId: agent.actor }, operatorCaller(tenants.a.caller.organization))).toMatchObject({
      accessEnded: 3,
    });
    expect((await holding()).toSorted()).toEqual([...before, ...mine].toSorted());
    expect(before).toEqual(expect.arrayContaining([agent.actor, old]));
    expect(ended).toEqual([made[1]]);
    expect(await undo()).toMatchObject({ accessEnded: 0 });
  });

  test('ends at whatever remove, also where what it made has ended since', async () => {
    const before = await holding();
    const child = await tenants.caller({ name: 'child', actions: ['read', 'manage'] }, agent);
    await tenants.caller({ name: 'grandchild', actions: ['read', 'manage'] }, child);
    await key(child);
    await password(child);
    await tenants.do('create_narrow_token', { name: 'helper', mailbox: tenants.a.main.address }, agent);
    await tenants.do('revoke_agent_token', { tokenId: child.actor });
    expect(await undo()).toMatchObject({ accessEnded: 4 });
    expect((await holding()).toSorted()).toEqual(before.toSorted());
  });

  test('is not kept by changing so many rules that the rest is forgotten', async () => {
    const made = [await key(agent), await password(agent)];
    await tenants.world.store.write(flood, { who: agent.actor, at: tenants.clock.now });
    const { mailboxId } = tenants.a.main;
    await tenants.do('add_sender_rule', { mailboxId, kind: 'allow', pattern: 'last.example' }, agent);
    await undo();
    expect((await holding()).filter((id) => made.includes(id))).toEqual([]);
  });

  test('of one whose rules wait: its tokens end at once, the keys that a person accepted are a person’s', async () => {
    const waits = await tenants.caller({
      name: 'governed',
      actions: ['read', 'manage'],
      agentPolicyId: tenants.a.main.policyId,
    });
    const queried = await tenants.do('create_email_api_key', { name: 'asked' }, waits);
    const { proposalId } = queried as { proposalId: string };
    const person = operatorCaller(tenants.a.caller.organization);
    await tenants.do('decide_proposal', { proposalId, accept: true }, person);
    expect(await undo({}, waits)).toMatchObject({ accessEnded: 0 });
    expect(await undo({ tokenId: waits.actor }, person)).toMatchObject({ accessEnded: 1 });
  });
});

describe('templates', () => {
  const MINE = { subject: 'Welcome', text: 'Hello {{name}}' };
  const SPOILT = { subject: 'Pay', text: 'Pay at https://evil.example/' };
  let name = 0;
  const create = async (by: Caller, texts: object = MINE): Promise<string> => {
    const made = await tenants.do('create_email_template', { name: `t${++name}`, ...texts }, by);
    return (made['template'] as { id: string }).id;
  };
  const rewrite = (templateId: string, by: Caller, texts = SPOILT) =>
    tenants.do('update_email_template', { templateId, ...texts }, by);
  const remove = (templateId: string) => tenants.do('delete_email_template', { templateId }, agent);
  const said = async (templateId: string) => {
    const found = await tenants.try('get_email_template', { templateId }, tenants.a.caller);
    return found.kind === 'done' ? (found.result['template'] as { text: string }).text : found.refusal.error;
  };

  test('say what they said before, whether rewritten or deleted; what it made is gone', async () => {
    const [rewritten, deleted, both] = [
      await create(tenants.a.caller),
      await create(tenants.a.caller),
      await create(tenants.a.caller),
    ];
    const own = await create(agent);
    await rewrite(rewritten, agent);
    await rewrite(rewritten, agent);
    await remove(deleted);
    await rewrite(both, agent);
    await remove(both);
    expect(await undo()).toMatchObject({ rulesUndone: 5, rulesKept: 0 });
    expect(await Promise.all([rewritten, deleted, both].map(said))).toEqual([MINE.text, MINE.text, MINE.text]);
    expect(await said(own)).toBe('not_found');
    expect(await undo()).toMatchObject({ rulesUndone: 0, rulesKept: 0 });
  });

  test('that a person has rewritten since stay so', async () => {
    const template = await create(tenants.a.caller);
    await rewrite(template, agent);
    await rewrite(template, tenants.a.caller, { subject: 'New', text: 'Good day' });
    expect(await undo()).toMatchObject({ rulesUndone: 0 });
    expect(await said(template)).toBe('Good day');
  });

  test('of which nothing from before is there any more are counted as kept', async () => {
    const pushedOut = await create(tenants.a.caller);
    for (let i = 0; i < 100; i++) await rewrite(pushedOut, agent, { ...SPOILT, text: `Pay ${i}` });
    const long = await create(tenants.a.caller, { subject: 'Long', text: 'x'.repeat(200_000) });
    await remove(long);
    await remove(await create(tenants.a.caller));
    await tenants.do('create_email_template', { name: `t${name}`, ...MINE });
    expect(await undo()).toMatchObject({ rulesUndone: 0, rulesKept: 3 });
  });
});
