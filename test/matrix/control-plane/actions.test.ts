import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BOX_OPERATIONS } from '../../../src/operations/operator/index.ts';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';
import { perform } from '../../../src/operations/perform.ts';
import { ACTIONS, expandActions } from '../../../src/core/token.ts';
import { EVERYTHING, isReference, sampleOf, SAMPLES, TEXTS } from '../../support/operation-samples.ts';
import { difference, rowsOf } from '../../support/rows.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
beforeAll(async () => {
  tenants = await twoTenants();
});
afterAll(() => tenants[Symbol.asyncDispose]());

describe('the samples', () => {
  test('are there for every operation, and for none that is gone', () => {
    expect(Object.keys(SAMPLES).toSorted()).toEqual(EVERYTHING.map((one) => one.name).toSorted());
  });

  test('know of every argument whether it names something', () => {
    const fields = new Set(EVERYTHING.flatMap((one) => Object.keys(one.input.shape)));
    const unknown = [...fields].filter((field) => isReference(field) === TEXTS.has(field));
    expect(unknown).toEqual([]);
  });

  test('every operation declares an action, annotations and a description that can be listed', () => {
    for (const one of [...EVERYTHING, ...BOX_OPERATIONS]) {
      expect([...ACTIONS, 'anonymous', 'identity'], one.name).toContain(one.action);
      expect(one.description.length, one.name).toBeLessThanOrEqual(350);
      expect(one.hints.readOnly && one.hints.destructive, one.name).toBe(false);
    }
  });
});

describe('a token without the action that is needed', () => {
  const guarded = EVERYTHING.filter((one) => one.action !== 'anonymous' && one.action !== 'identity');

  test.each(guarded)('cannot call $name', async (operation) => {
    const enough = [operation.action, operation.orAction];
    const others = ACTIONS.filter((one) => !enough.some((needed) => expandActions([one]).has(needed as never)));
    const caller = { ...tenants.a.caller, actions: expandActions(others) };
    expect(caller.actions.has(operation.action as never)).toBe(false);
    const before = await rowsOf(tenants.world.store);
    const said = await perform(tenants.world, operation, caller, sampleOf(operation, tenants.a.main));
    const code = operation.operatorOnly === true ? 'out_of_scope' : 'action_not_allowed';
    expect(said).toMatchObject({ kind: 'refused', refusal: { error: code } });
    expect(difference(before, await rowsOf(tenants.world.store))).toEqual({ gone: [], added: [] });
  });
});

describe('what is only the operator’s', () => {
  const reserved = CATALOGUE.filter((one) => one.operatorOnly === true);

  test('is some of it', () => {
    expect(reserved.length).toBeGreaterThan(2);
    expect(BOX_OPERATIONS.every((one) => one.socketOnly === true)).toBe(true);
    expect(CATALOGUE.some((one) => one.socketOnly === true)).toBe(false);
  });

  test.each([...reserved, ...BOX_OPERATIONS])('$name does nothing for the full token of a stranger', async (one) => {
    const { a, b, world } = tenants;
    const before = await rowsOf(world.store);
    const said = await perform(world, one, a.caller, boxSample(one.name, b.main));
    expect(said).toMatchObject({ kind: 'refused', refusal: { error: 'out_of_scope' } });
    expect(difference(before, await rowsOf(world.store))).toEqual({ gone: [], added: [] });
  });
});

function boxSample(name: string, of: Tenants['b']['main']): object {
  const { address, domain, serviceId, organizationId } = of;
  const samples: Record<string, object> = {
    add_domain: { domain: `box-${domain}` },
    add_mailbox: { address: `new-${address}` },
    change_mailbox_password: { address },
    set_service_control: { serviceId, control: { kind: 'command', command: ['/bin/true'], uid: 61_006 } },
    retry_box_queue: { ids: 'all' },
    release_box_queue: { ids: 'all' },
    cancel_box_queue: { ids: 'all' },
    trace_box_message: { trace: 'trace-bravo-main-due' },
    remove_ban: { address: '192.0.2.7' },
    freeze_organization: { targetOrganizationId: organizationId },
    unfreeze_organization: { targetOrganizationId: organizationId },
  };
  return samples[name] ?? {};
}
