import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queueOfTrace } from '../../../mail/store/queue/queue-rows.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { type Caller, operatorCaller } from '../../../src/core/caller.ts';
import { rowId } from '../../../src/core/ids.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

const hold = command('test-hold-as', async (tx, { id, why }: { id: number; why: string | null }): Promise<void> => {
  await tx.run('UPDATE queue SET state = ?, hold_reason = ? WHERE id = ?', why === null ? 0 : 1, why, id);
});

let tenants: Tenants;
let person: Caller;
beforeAll(async () => {
  tenants = await twoTenants({}, [hold]);
  person = operatorCaller(rowId('organization', tenants.a.main.organizationId));
});
afterAll(() => tenants[Symbol.asyncDispose]());

const put = (why: string | null) =>
  tenants.world.store.write(hold, { id: rowId('queue', tenants.a.main.queueId) ?? 0, why });
const state = async () => {
  const rows = await tenants.world.store.read(queueOfTrace, {
    trace: 'trace-alpha-main-due',
    tenant: null,
    accounts: null,
  });
  return rows.map(({ state: now, hold_reason: why }) => [now, why]);
};

/** Every act of a token that would let queued mail go, or destroy it. */
const ACTS: readonly (readonly [string, object])[] = [
  ['release_queue_item', {}],
  ['retry_queue_item', {}],
  ['cancel_queue_item', {}],
  ['steer_queue', { action: 'release' }],
  ['steer_queue', { action: 'retry' }],
  ['steer_queue', { action: 'cancel' }],
];

describe('mail that a person held', () => {
  test.each(ACTS)('stays held: %s %j', async (name, args) => {
    await put(null);
    const { queueId } = tenants.a.main;
    await tenants.do('hold_queue_item', { queueId }, person);
    await tenants.try(name, name === 'steer_queue' ? { ...args, messageId: 'trace-alpha-main-due' } : { queueId });
    expect(await state()).toEqual([[1, 'held on request']]);
  });

  test('is released by a person', async () => {
    await tenants.do('release_queue_item', { queueId: tenants.a.main.queueId }, person);
    expect(await state()).toEqual([[0, null]]);
  });
});

test('what a token held, a token releases', async () => {
  await put(null);
  const { queueId } = tenants.a.main;
  await tenants.do('hold_queue_item', { queueId });
  await tenants.do('release_queue_item', { queueId });
  expect(await state()).toEqual([[0, null]]);
});

test.each(['its sender is paused: x', 'its agent was stopped: a person lets it go, or takes it back'])(
  'held as "%s", a token does not release it',
  async (why) => {
    await put(why);
    await tenants.try('release_queue_item', { queueId: tenants.a.main.queueId });
    expect(await state()).toEqual([[1, why]]);
  },
);
