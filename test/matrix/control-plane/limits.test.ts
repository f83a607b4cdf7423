import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../../src/core/caller.ts';
import { perform, type OperationOutcome } from '../../../src/operations/perform.ts';
import { ALL_ACTIONS } from '../../../src/core/token.ts';
import { EVERYTHING, references, sampleOf } from '../../support/operation-samples.ts';
import { difference, rowsOf } from '../../support/rows.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

type Limit = 'project' | 'service' | 'mailboxes';
const LIMITS: readonly Limit[] = ['project', 'service', 'mailboxes'];

let tenants: Tenants;
const limited: Partial<Record<Limit, Caller>> = {};
beforeAll(async () => {
  tenants = await twoTenants();
  const { projectId, serviceId, mailboxId } = tenants.a.side;
  const actions = ALL_ACTIONS;
  limited.project = await tenants.caller({ actions, projectId });
  limited.service = await tenants.caller({ actions, serviceId });
  limited.mailboxes = await tenants.caller({ actions, mailboxIds: [mailboxId] });
});
afterAll(() => tenants[Symbol.asyncDispose]());

function callerOf(limit: Limit): Caller {
  const caller = limited[limit];
  if (caller === undefined) throw new Error(`no token is limited to a ${limit}`);
  return caller;
}

function shown(said: OperationOutcome, queried: unknown): string {
  const text = JSON.stringify(said);
  return [queried]
    .flat()
    .reduce<string>((left, one) => left.replaceAll(JSON.stringify(one).slice(1, -1), '<asked>'), text);
}

const all = references().filter(({ operation }) => operation.action !== 'anonymous');
const outside = LIMITS.flatMap((limit) =>
  all.map((one) => ({ ...one, limit, title: `${limit}: ${one.operation.name} ${one.field}` })),
);

describe('a limited token, and what lies outside of its limit', () => {
  test.each(outside)('$title', async ({ limit, operation, value, args, field }) => {
    const { a, world } = tenants;
    const queried = value(a.main);
    // A value of the whole organization is neither inside nor outside of a limit.
    if (JSON.stringify(queried) === JSON.stringify(value(a.side))) return;
    const before = await rowsOf(world.store);
    const said = await perform(world, operation, callerOf(limit), args(a.side, queried));
    if (!operation.hints.readOnly) expect(said.kind, field).toBe('refused');
    expect(shown(said, queried)).not.toContain('alpha-main');
    expect(difference(before, await rowsOf(world.store))).toEqual({ gone: [], added: [] });
  });
});

describe('a limited token is shown nothing from outside', () => {
  const reading = EVERYTHING.filter((one) => one.hints.readOnly);

  test.each(
    LIMITS.flatMap((limit) => reading.map((one) => ({ limit, operation: one, title: `${limit}: ${one.name}` }))),
  )('$title', async ({ limit, operation }) => {
    const { a, world } = tenants;
    const little = operation.streams === true ? { timeoutSeconds: 0 } : {};
    for (const args of [little, sampleOf(operation, a.side)]) {
      const said = await perform(world, operation, callerOf(limit), args);
      const text = JSON.stringify(said);
      expect(text).not.toMatch(/alpha-main|bravo/);
      for (const id of Object.values(a.main)) {
        if (!Object.values(a.side).includes(id) && id.length > 4) expect(text).not.toContain(`"${id}"`);
      }
    }
  });
});

describe('a token of one project', () => {
  test('makes things in its own project when none is named', async () => {
    const { service } = await tenants.do('create_service', { name: 'unnamed' }, callerOf('project'));
    expect(service).toMatchObject({ projectId: tenants.a.side.projectId });
  });

  test('gives keys for the domains of its project only, also when it names none', async () => {
    const { key } = await tenants.do('create_email_api_key', { name: 'wide' }, callerOf('project'));
    expect(key).toMatchObject({ allowedDomains: [tenants.a.side.domain] });
  });

  test('is shown the domains of its project, and not even the number of others', async () => {
    const said = await tenants.do('bootstrap', {}, callerOf('project'));
    expect(said['domains']).toEqual([expect.objectContaining({ domain: tenants.a.side.domain })]);
  });

  test('does not read a mailbox of another project that stands on a domain of its own', async () => {
    const { side, main } = tenants.a;
    const theirs = { domainId: side.domainId, localPart: 'theirs', projectId: main.projectId };
    const { mailbox } = await tenants.do('provision_email', theirs);
    const { address, id } = mailbox as { address: string; id: string };
    const forward = { sourceAddress: address, destinationAddress: 'spy@else.example' };
    const refused = { kind: 'refused', refusal: { error: 'out_of_scope' } };
    expect(await tenants.try('set_email_forwarder', forward, callerOf('project'))).toMatchObject(refused);
    await tenants.do('set_email_forwarder', forward);
    const listed = JSON.stringify(await tenants.do('list_email_forwarders', {}, callerOf('project')));
    expect(listed).not.toContain(address);
    expect(await tenants.try('remove_email_forwarder', forward, callerOf('project'))).toMatchObject(refused);
    const removal = await tenants.try('remove_email_domain', { domainId: side.domainId }, callerOf('project'));
    expect(removal).toMatchObject({ kind: 'refused', refusal: { error: 'mailboxes_exist', sample: [] } });
    expect(await tenants.try('reveal_email_credentials', { mailboxId: id }, callerOf('project'))).toMatchObject(
      refused,
    );
  });
});

describe('a limited token', () => {
  test.each(LIMITS)('makes no token that reaches further: %s', async (limit) => {
    const caller = callerOf(limit);
    const made = await tenants.caller({ actions: ['read', 'manage'] }, caller);
    expect([made.project, made.service, made.mailboxes]).toEqual([caller.project, caller.service, caller.mailboxes]);
  });

  test('gives no action that it does not have', async () => {
    const reader = await tenants.caller({ actions: ['manage'] });
    const said = await tenants.try('create_agent_token', { name: 'more', actions: ['deploy'] }, reader);
    expect(said).toMatchObject({ kind: 'refused', refusal: { error: 'action_not_allowed', requiredAction: 'deploy' } });
  });
});
