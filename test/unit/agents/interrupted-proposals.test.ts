import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { StoreBusy } from '../../../mail/store/engine/types.ts';
import { decideProposal, settleProposal } from '../../../src/agents/proposal-commands.ts';
import { proposalsOf } from '../../../src/agents/proposal-queries.ts';
import { rowId } from '../../../src/core/ids.ts';
import { type Caller, operatorCaller } from '../../../src/core/caller.ts';
import type { OperationOutcome } from '../../../src/operations/perform.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

interface Listed {
  proposalId: string;
  state: string;
  outcome: string | null;
  message?: string;
}

const INTERRUPTED = {
  state: 'accepted',
  outcome: 'interrupted',
  message: expect.stringContaining('it may or may not have been executed') as string,
};

/** Lookups wait for this, so that an operation with a lookup stays in progress until then. */
let answer: PromiseWithResolvers<void>;
let queried: PromiseWithResolvers<void>;
let tenants: Tenants;
let owner: Caller;
let agent: Caller;
beforeAll(async () => {
  const known = fakeResolver({ 'A smtp.example.net': ['198.41.0.4'], 'A hooks.example.net': ['198.41.0.4'] });
  const slow = async (name: string): ReturnType<typeof known.a> => {
    if (name !== 'smtp.example.net') return known.a(name);
    queried.resolve();
    await answer.promise;
    return known.a(name);
  };
  tenants = await twoTenants({ resolver: { ...known, a: slow } });
  const { organizationId, policyId: agentPolicyId } = tenants.a.main;
  owner = {
    ...operatorCaller(rowId('organization', organizationId)),
    kind: 'user',
    actorName: 'owner@home.test',
    user: { id: 1, role: 'owner' },
  };
  agent = await tenants.caller({ actions: ['read', 'manage'], agentPolicyId });
});
afterAll(() => tenants[Symbol.asyncDispose]());
beforeEach(() => {
  answer = Promise.withResolvers();
  queried = Promise.withResolvers();
});

let n = 0;
const forward = (): object => ({
  sourceAddress: tenants.a.main.address,
  destinationAddress: `to${++n}@far.example`,
});
const forwards = async (): Promise<string> => JSON.stringify(await tenants.do('list_email_forwarders', { limit: 100 }));
const propose = async (name: string, args: object): Promise<string> =>
  String((await tenants.do(name, args, agent))['proposalId']);
const accept = (proposalId: string): Promise<OperationOutcome> =>
  tenants.try('decide_proposal', { proposalId, accept: true }, owner);
const listed = async (proposalId: string, by = owner): Promise<Listed | undefined> =>
  ((await tenants.do('list_proposals', {}, by))['proposals'] as Listed[]).find((one) => one.proposalId === proposalId);

/** The commit of a person's yes, and nothing after it: as a process leaves it that is killed there. */
async function acceptedAndKilled(proposalId: string): Promise<void> {
  const { organization = 0 } = agent;
  const id = rowId('proposal', proposalId) ?? 0;
  const done = await tenants.world.store.write(decideProposal, { organization, id, accept: true, by: 'ada' });
  expect(done.kind).toBe('accepted');
}

describe('a proposal that was accepted by a process that ended before its outcome', () => {
  test('says so to the agent and to people, and is never done a second time', async () => {
    const args = forward();
    const proposalId = await propose('set_email_forwarder', args);
    await acceptedAndKilled(proposalId);
    for (const by of [agent, owner]) expect(await listed(proposalId, by)).toMatchObject(INTERRUPTED);
    expect(await accept(proposalId)).toMatchObject({
      refusal: {
        error: 'conflict',
        message: 'The proposal was already accepted. See the list of proposals for the outcome.',
      },
    });
    expect(await forwards()).not.toContain(`to${n}@`);
    expect(await listed(proposalId)).toMatchObject(INTERRUPTED);

    const again = await propose('set_email_forwarder', args);
    expect(again).not.toBe(proposalId);
    expect(await accept(again)).toMatchObject({ result: { outcome: 'done' } });
    expect(await forwards()).toContain(`to${n}@`);
    const { message: _none, ...done } = (await listed(again)) ?? {};
    expect(done).toMatchObject({ state: 'accepted', outcome: 'done' });
  });
});

describe('a proposal that is being done', () => {
  const route = { receiverDomain: 'far.example', host: 'smtp.example.net' };

  test('is not taken for one that was interrupted, however many accept it', async () => {
    const proposalId = await propose('set_outbound_route', route);
    const first = accept(proposalId);
    await queried.promise;
    expect(await accept(proposalId)).toMatchObject({ refusal: { error: 'conflict' } });
    const during = await listed(proposalId);
    expect(during).toMatchObject({ state: 'accepted', outcome: null });
    expect(during).not.toHaveProperty('message');
    answer.resolve();
    expect(await first).toMatchObject({ result: { outcome: 'done' } });
    expect(await listed(proposalId)).toMatchObject({ outcome: 'done' });
  });

  test('and ends while it is listed has the outcome that it came to', async () => {
    const proposalId = await propose('set_outbound_route', { ...route, receiverDomain: 'other.example' });
    const accepted = accept(proposalId);
    await queried.promise;
    const { store } = tenants.world;
    const read = store.read.bind(store);
    const slow = vi.spyOn(store, 'read').mockImplementation(async (query, input) => {
      const rows = await read(query, input);
      if (query.name !== proposalsOf.name) return rows;
      answer.resolve();
      await accepted;
      return rows;
    });
    const seen = await listed(proposalId);
    slow.mockRestore();
    expect(seen).toMatchObject({ outcome: 'done' });
    expect(seen).not.toHaveProperty('message');
  });
});

test('a secret that came of a proposal is shown although the outcome could not be written down', async () => {
  const proposalId = await propose('create_email_api_key', { name: 'full disk' });
  const { store } = tenants.world;
  const write = store.write.bind(store);
  const full = vi
    .spyOn(store, 'write')
    .mockImplementation((command, input) =>
      command.name === settleProposal.name
        ? Promise.reject(new StoreBusy('disk-full', 'the disk is full'))
        : write(command, input),
    );
  const done = await accept(proposalId);
  full.mockRestore();
  expect(done).toMatchObject({ result: { outcome: 'done', result: { secret: expect.any(String) as string } } });
  expect(await listed(proposalId)).toMatchObject(INTERRUPTED);
});
