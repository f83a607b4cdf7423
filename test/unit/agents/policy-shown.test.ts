import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowId } from '../../../src/core/ids.ts';
import { type Caller, operatorCaller } from '../../../src/core/caller.ts';
import { callerOf, type Tenants, twoTenants } from '../../support/tenants.ts';

const READING = 'Mail to new recipients after it has read mail from outsiders';
const ALWAYS =
  "Mail that forwards other people's mail or files, and replies that a Reply-To redirects, even without reading";

interface Shown {
  governed: boolean;
  policies: { name: string; over: string }[];
  may: string[];
  waits: string[];
  never: string[];
  available: unknown[];
}

let tenants: Tenants;
let person: Caller;
let operator: Caller;
beforeAll(async () => {
  tenants = await twoTenants();
  person = operatorCaller(rowId('organization', tenants.a.main.organizationId));
  operator = await tenants.caller({ actions: ['read', 'manage'] }, operatorCaller());
});
afterAll(() => tenants[Symbol.asyncDispose]());

async function shown(by: Caller, args: object = {}): Promise<Shown> {
  return (await tenants.do('get_agent_policy', args, by)) as unknown as Shown;
}

describe('what an agent is informed of that holds for it', () => {
  test('what waits where a person can approve: some of it without any reading', async () => {
    const { may, waits } = await shown(operator);
    expect(waits).toEqual([READING, ALWAYS]);
    expect(may.join()).not.toContain('counts twice');
  });

  test('where nobody has claimed the organization no mail waits, and it counts double', async () => {
    const { may, waits } = await shown(await tenants.caller({ actions: ['read', 'manage'] }));
    expect(waits).toEqual([]);
    expect(may).toContainEqual(expect.stringContaining('each message counts twice'));
  });

  test('who writes to a list only has no mail that waits', async () => {
    const rules = { name: 'list', preset: 'custom', sends: 'allowed', allow: ['a@x.example'], rulesWait: false };
    const { policyId: agentPolicyId } = await tenants.do('save_agent_policy', rules, operatorCaller());
    const by = await tenants.caller({ actions: ['read'], agentPolicyId }, operatorCaller());
    expect((await shown(by)).waits).toEqual([]);
  });

  test('a token of many mailboxes is informed of those that are under policies, and of no others', async () => {
    const { mailboxId, address, projectId } = tenants.a.main;
    const by = await tenants.caller({ actions: ['read', 'manage'] });
    expect(await shown(by)).toMatchObject({ governed: false, policies: [] });
    await tenants.do('save_agent_policy', { mailboxId, preset: 'signup-bot', name: 'bot' }, person);
    const told = await shown(by);
    expect(told).toMatchObject({ governed: true, policies: [{ name: 'bot', over: 'mailbox' }] });
    expect(told.never).toContain(`${address}: Send mail`);
    expect(told.may).toContain('Write to anybody');
    expect(told.waits).toContainEqual(expect.stringContaining(`${address}: Forwards`));
    const inside = await tenants.caller({ actions: ['read'], projectId });
    expect((await shown(inside)).never).toContain(`${address}: Send mail`);
    const outside = await tenants.caller({ actions: ['read'], projectId: tenants.a.side.projectId });
    expect(JSON.stringify(await shown(outside))).not.toContain(address);
    expect(await shown(by, { mailboxId: tenants.a.side.mailboxId })).toMatchObject({ governed: false, policies: [] });
    const limited = await tenants.caller({ actions: ['read'], mailboxIds: [mailboxId] }, person);
    expect((await shown(limited)).never).toContain('Send mail');
  });

  test('names three mailboxes of a policy, and ten policies', async () => {
    const { domainId, projectId } = tenants.b.side;
    const owner = operatorCaller(rowId('organization', tenants.b.main.organizationId));
    const { policyId } = tenants.b.main;
    for (let i = 0; i < 5; i++) {
      const { mailbox } = await tenants.do('provision_email', { domainId, localPart: `many${i}` }, owner);
      const { id: mailboxId } = mailbox as { id: string };
      await tenants.do('attach_agent_policy', { mailboxId, policyId }, owner);
    }
    const by = await tenants.caller({ actions: ['read'], projectId }, tenants.b.caller);
    const about = (await shown(by)).never.find((one) => one.includes('many0'));
    expect(about).toMatch(/^many0@\S+, many1@\S+, many2@\S+ and 2 more: /);
  });
});

describe('who may ask', () => {
  test.each([[['mail_read']], [['send']], [['mail_read', 'send']]])(
    'a token for %s, of itself alone',
    async (actions) => {
      const by = await tenants.caller({ actions });
      const { available } = await shown(by);
      expect(available).toEqual([]);
      expect(await shown(by, { tokenId: by.actor })).toHaveProperty('may');
      const others = [{ tokenId: tenants.a.caller.actor }, { policyId: tenants.a.main.policyId }];
      for (const args of others) {
        expect(await tenants.try('get_agent_policy', args, by)).toMatchObject({ refusal: { error: 'out_of_scope' } });
      }
    },
  );

  test('one that was narrowed, to a conversation too', async () => {
    const mailbox = tenants.a.side.mailboxId;
    const { messages } = (await tenants.do('list_messages', { mailbox })) as { messages: { threadId: string }[] };
    for (const limits of [{}, { threadId: messages[0]?.threadId }]) {
      const made = await tenants.do('create_narrow_token', { mailbox, name: 'helper', ...limits });
      const { secret } = made as { secret: string };
      expect(await shown(await callerOf(tenants.world, secret))).toHaveProperty('may');
    }
  });

  test('not one that neither reads nor sends mail', async () => {
    const by = await tenants.caller({ actions: ['logs'] });
    expect(await tenants.try('get_agent_policy', {}, by)).toMatchObject({ refusal: { error: 'action_not_allowed' } });
  });
});
