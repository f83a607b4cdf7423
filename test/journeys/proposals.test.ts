import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callServer } from '../../src/operator-socket/client.ts';
import { type Box, startBox } from '../support/box.ts';
import { dnsServer } from '../support/dns-server.ts';
import { outcome, rpc, tool } from '../support/mcp.ts';
import { leads, type Owned, ownedOrganization, portalBox } from '../support/visitor.ts';

let box: Box;
let base: string;
let acme: Owned;
let other: Owned;
/** Agent under the preset for customer support. */
let agent: { token: string; id: string };
let policyId: string;

beforeAll(async () => {
  ({ box, base, acme, other } = await portalBox());
  const path = `${acme.path}/agent-policies`;
  const made = await acme.owner.act(path, 'make', { name: 'Desk', preset: 'support-desk' });
  expect(leads(made)).toBe(`303 ${path}?done=made`);
  policyId = /pol_\d+/.exec((await acme.owner.get(path)).text)?.[0] ?? '';
  agent = await minted('desk', { agentPolicyId: policyId });
});
afterAll(() => box[Symbol.asyncDispose]());

async function minted(name: string, args: object): Promise<{ token: string; id: string }> {
  const made = await tool(base, 'create_agent_token', { name, actions: ['read', 'manage'], ...args }, acme.token);
  return { token: String(made.body['secret']), id: (made.body['token'] as { id: string }).id };
}

const forward = (to: string): object => ({ sourceAddress: 'anna@acme.test', destinationAddress: to });

async function forwards(): Promise<string> {
  return (await tool(base, 'list_email_forwarders', {}, acme.token)).text;
}

async function proposed(args: object, token = agent.token): Promise<string> {
  const said = await tool(base, 'set_email_forwarder', args, token);
  expect([said.status, said.body['status']]).toEqual([202, 'pending_approval']);
  return String(said.body['proposalId']);
}

async function outcomeOf(proposalId: string): Promise<unknown> {
  const { body } = await tool(base, 'list_proposals', {}, agent.token);
  return (body['proposals'] as { proposalId: string; state: string; outcome: string | null }[]).find(
    (one) => one.proposalId === proposalId,
  );
}

describe('an agent under a policy that sets a forward', () => {
  test('proposes it, over MCP too; a person sees who asks for what, accepts, and it is there', async () => {
    const called = await rpc(
      base,
      'tools/call',
      { name: 'set_email_forwarder', arguments: forward('boss@else.example') },
      { authorization: `Bearer ${agent.token}` },
    );
    const { status, proposalId, approveUrl } = outcome(called);
    expect([status, approveUrl]).toEqual(['pending_approval', `${base}${acme.path}/proposals`]);
    expect(await forwards()).not.toContain('boss@else.example');

    expect((await acme.owner.get(acme.path)).text).toContain('1 proposal awaits');
    const path = new URL(String(approveUrl)).pathname;
    const page = (await acme.owner.get(path)).text.replaceAll('<wbr />', '');
    for (const part of ['Forward an address', 'desk', 'boss@else.example', String(proposalId)]) {
      expect(page).toContain(part);
    }
    const done = await acme.owner.act(path, 'accept', { proposalId: String(proposalId) });
    expect(leads(done)).toBe(`303 ${path}?done=accepted`);
    expect(await forwards()).toContain('boss@else.example');
    expect(await outcomeOf(String(proposalId))).toMatchObject({ state: 'accepted', outcome: 'done' });
  });

  test('has nothing of it when a person refuses', async () => {
    const proposalId = await proposed(forward('no@else.example'));
    const path = `${acme.path}/proposals`;
    expect(leads(await acme.owner.act(path, 'refuse', { proposalId }))).toBe(`303 ${path}?done=refused`);
    expect((await acme.owner.act(path, 'accept', { proposalId })).status).toBe(422);
    expect(await forwards()).not.toContain('no@else.example');
    expect(await outcomeOf(proposalId)).toMatchObject({ state: 'refused' });
  });

  test('has nothing of it when its token is revoked before a person accepts', async () => {
    const short = await minted('short', { agentPolicyId: policyId });
    const proposalId = await proposed(forward('late@else.example'), short.token);
    await tool(base, 'revoke_agent_token', { tokenId: short.id }, acme.token);
    const path = `${acme.path}/proposals`;
    expect(leads(await acme.owner.act(path, 'accept', { proposalId }))).toBe(`303 ${path}?done=failed`);
    expect((await acme.owner.get(path)).text).toContain('failed: token_gone');
    expect(await forwards()).not.toContain('late@else.example');
  });

  test('accepts nothing itself, through no endpoint; nor does a token without a policy, or another organization', async () => {
    const proposalId = await proposed(forward('self@else.example'));
    const args = { proposalId, accept: true };
    for (const token of [agent.token, acme.token, other.token]) {
      const said = await tool(base, 'decide_proposal', args, token);
      expect([said.status, said.body['error']]).toEqual([403, 'action_not_allowed']);
      const bearer = { authorization: `Bearer ${token}` };
      const called = outcome(await rpc(base, 'tools/call', { name: 'decide_proposal', arguments: args }, bearer));
      expect(called['error']).toBe('action_not_allowed');
    }
    expect((await other.owner.act(`${other.path}/proposals`, 'accept', { proposalId })).status).toBe(422);
    expect((await other.owner.get(`${other.path}/proposals`)).text).not.toContain(proposalId);
    expect((await other.owner.get(`${acme.path}/proposals`)).status).toBe(404);
    expect(await forwards()).not.toContain('self@else.example');
  });

  test('survives a restart, and is accepted at the command line too', async () => {
    const proposalId = await proposed(forward('restart@else.example'));
    await box.restart();
    const said = await callServer(box.dataDir, 'decide_proposal', { proposalId, accept: true }, acme.id);
    expect(said).toMatchObject({ kind: 'done', result: { state: 'accepted', outcome: 'done' } });
    expect(await forwards()).toContain('restart@else.example');
  });
});

test('a proposal that the server was killed over is reported as such, and not done when it is accepted again', async () => {
  const host = 'smtp.far.example';
  await using dns = await dnsServer({ [`A ${host}`]: 'silence', [`AAAA ${host}`]: 'silence' });
  await using crashing = await startBox({
    settings: { EXEMPT_NETWORKS: '127.0.0.0/8', RESOLVERS: dns.address },
  });
  const at = `http://127.0.0.1:${crashing.port('http')}`;
  const { owner, path, token } = await ownedOrganization(at, 'Crash', 'ada@example.test');
  await owner.act(`${path}/agent-policies`, 'make', { name: 'Desk', preset: 'support-desk' });
  const agentPolicyId = /pol_\d+/.exec((await owner.get(`${path}/agent-policies`)).text)?.[0];
  const queried = { name: 'desk', actions: ['read', 'manage'], agentPolicyId };
  const by = String((await tool(at, 'create_agent_token', queried, token)).body['secret']);
  const { body } = await tool(at, 'set_outbound_route', { host }, by);
  const { proposalId } = body as { proposalId: string };
  const listed = async (): Promise<Record<string, unknown>> =>
    ((await tool(at, 'list_proposals', {}, by)).body['proposals'] as Record<string, unknown>[])[0] ?? {};

  const page = `${path}/proposals`;
  const accepted = owner.act(page, 'accept', { proposalId }).catch(() => 'the connection broke');
  await expect.poll(() => dns.queried).toContain(`A ${host}`);
  expect(await listed()).toMatchObject({ state: 'accepted', outcome: null });
  expect((await owner.get(page)).text).toContain('in progress');
  await crashing.kill();
  expect(await accepted).toBe('the connection broke');
  await crashing.start();

  expect(await listed()).toMatchObject({
    proposalId,
    state: 'accepted',
    outcome: 'interrupted',
    message: expect.stringContaining('never executed twice') as string,
  });
  expect((await owner.get(page)).text).toContain('it may or may not have been executed');
  const again = await owner.act(page, 'accept', { proposalId });
  expect([again.status, again.text.includes('The proposal was already accepted.')]).toEqual([422, true]);
  expect((await tool(at, 'list_outbound_routes', {}, token)).body['routes']).toEqual([]);
  expect(String((await tool(at, 'set_outbound_route', { host }, by)).body['proposalId'])).not.toBe(proposalId);
});

describe('a secret that comes of a proposal', () => {
  test('is shown to who accepts, and never to the agent', async () => {
    const said = await tool(base, 'create_agent_token', { name: 'child', actions: ['read'] }, agent.token);
    const proposalId = String(said.body['proposalId']);
    const shown = await acme.owner.act(`${acme.path}/proposals`, 'accept', { proposalId });
    expect(shown.status).toBe(200);
    const secret = /aria-label="Secret">([^<]+)</.exec(shown.text)?.[1] ?? '';
    expect(secret).toMatch(/^mst_[0-9a-f]{48}$/);
    expect((await tool(base, 'list_proposals', {}, agent.token)).text).not.toContain(secret);
    // A token that a governed token created is under the same policy.
    const { body } = await tool(base, 'get_agent_policy', {}, secret);
    expect(body).toMatchObject({ governed: true, policies: [{ policyId, over: 'token' }] });
    expect((await tool(base, 'whoami', {}, secret)).body['policy']).toMatchObject({ name: 'Desk', sends: 'replies' });
    expect((await tool(base, 'whoami', {}, acme.token)).body['policy']).toBe(null);
  });
});

describe('a policy', () => {
  test('is changed on its page, explained, put over a mailbox, and taken away again', async () => {
    const path = `${acme.path}/agent-policies`;
    const given = { policyId, name: 'Desk', sends: 'allowed', allow: 'Shop.example, ann@else.example', waits: 'rules' };
    expect(leads(await acme.owner.act(path, 'change', given))).toBe(`303 ${path}?done=changed`);
    const { body } = await tool(base, 'get_agent_policy', {}, agent.token);
    expect(body).toMatchObject({
      rules: { sends: 'allowed', allow: ['shop.example', 'ann@else.example'], holdAfterReading: false },
      may: expect.arrayContaining(['Write to shop.example, ann@else.example']) as unknown,
      never: expect.arrayContaining(['Write to anybody else']) as unknown,
    });
    const back = { policyId, name: 'Desk', sends: 'replies', allow: '', waits: ['hold', 'rules'] };
    expect(leads(await acme.owner.act(path, 'change', back))).toBe(`303 ${path}?done=changed`);
    expect((await tool(base, 'get_agent_policy', {}, agent.token)).body['rules']).toMatchObject({ allow: [] });

    const { body: boxes } = await tool(base, 'list_emails', {}, acme.token);
    const target = (boxes['mailboxes'] as { id: string }[])[0]?.id ?? '';
    const policyOf = async (): Promise<unknown> =>
      ((await tool(base, 'list_emails', {}, acme.token)).body['mailboxes'] as { agentPolicyId: unknown }[])[0]
        ?.agentPolicyId;
    expect(leads(await acme.owner.act(path, 'attach', { target, policyId }))).toBe(`303 ${path}?done=attached`);
    expect(await policyOf()).toBe(policyId);
    expect((await acme.owner.act(path, 'remove', { policyId })).text).toContain('still attached to a mailbox or token');
    expect((await acme.owner.get(`${acme.path}/mailboxes/${target}`)).text).toContain('Governed by a <a');
    expect(leads(await acme.owner.act(path, 'attach', { target, policyId: '' }))).toBe(`303 ${path}?done=attached`);
    expect(await policyOf()).toBe(null);
    const refused = await acme.owner.act(path, 'make', { name: 'Desk', preset: 'custom' });
    expect([refused.status, refused.text.includes('A policy named &quot;Desk&quot; already exists')]).toEqual([
      422,
      true,
    ]);
    expect((await other.owner.get(`${other.path}/agent-policies`)).text).not.toContain('Desk');
    expect((await other.owner.act(`${other.path}/agent-policies`, 'remove', { policyId })).status).toBe(422);
  });

  test('that lets more go than none is attached by people, not as a token makes a mailbox', async () => {
    const path = `${acme.path}/agent-policies`;
    await acme.owner.act(path, 'make', { name: 'Loose', preset: 'custom', allow: 'else.example' });
    const { body } = await tool(base, 'get_agent_policy', {}, acme.token);
    const loose = (body['available'] as { name: string; policyId: string }[]).find((one) => one.name === 'Loose');
    const mailbox = { domain: 'acme.test', localPart: 'robot' };
    const refused = await tool(base, 'provision_email', { ...mailbox, agentPolicyId: loose?.policyId }, acme.token);
    expect([refused.status, refused.body['requiredAction']]).toEqual([403, 'person']);
    const made = await tool(base, 'provision_email', { ...mailbox, agentPolicyId: policyId }, acme.token);
    expect(made.body['mailbox']).toMatchObject({ agentPolicyId: policyId });
  });

  test('is proposed by its agent, shown as what would change, and accepted', async () => {
    const queried = { tokenId: agent.id, name: 'More', preset: 'trusted-internal' };
    const said = await tool(base, 'propose_agent_policy', queried, agent.token);
    expect([said.status, said.body['status']]).toEqual([202, 'pending_approval']);
    const path = `${acme.path}/proposals`;
    const { text } = await acme.owner.get(path);
    for (const change of ['Now allowed: Write to anybody', 'No longer blocked: Write to people who did']) {
      expect(text).toContain(change);
    }
    expect((await tool(base, 'whoami', {}, agent.token)).body['policy']).toMatchObject({ sends: 'replies' });
    const proposalId = String(said.body['proposalId']);
    expect(leads(await acme.owner.act(path, 'accept', { proposalId }))).toBe(`303 ${path}?done=accepted`);
    expect((await tool(base, 'whoami', {}, agent.token)).body['policy']).toMatchObject({
      name: 'More',
      sends: 'anybody',
    });
  });
});
