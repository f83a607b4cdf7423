import { expect, test } from 'vitest';
import { holdAgentMail, holdMore } from '../../mail/agents/freeze/hold.ts';
import { releaseStopped } from '../../mail/agents/freeze/release.ts';
import { command } from '../../mail/store/engine/types.ts';
import { explained } from '../support/explained.ts';
import { GateWorld } from '../support/gate-world.ts';

const STAMP = { now: 0 };
/** The agent whose mail is held; null: all agents of the tenant. */
interface HoldTarget {
  tenant: number;
  credential: string | null;
}

/** As if all that was sent was still to be held. */
const begin = command('test-begin', async (tx, { tenant, credential }: HoldTarget): Promise<void> => {
  await tx.run(
    'INSERT INTO agent_hold (tenant, credential, at, send) VALUES (?, ?, ?, 0)',
    tenant,
    credential,
    Number.MAX_SAFE_INTEGER,
  );
});

/** Query plans by which the rows of a table are found. */
const stepsOn = (plans: readonly string[][], name: string): string[] =>
  plans.flat().filter((step) => step.startsWith(`SEARCH ${name} `) || step.startsWith(`SCAN ${name}`));

test.each([
  ['one agent', 'tok_1', 'agent_send_credential (credential=?'],
  ['all agents', null, 'agent_send_tenant (tenant=?'],
])('holding the mail of %s looks at theirs alone, newest first, and sorts nothing', async (_who, credential, index) => {
  await using world = await GateWorld.open([begin]);
  await world.send(['a@x.test']);
  using first = explained(world.box.dataDir);
  await holdAgentMail(first.tx, 1, [credential], STAMP);
  await world.box.store.write(begin, { tenant: 1, credential });
  using more = explained(world.box.dataDir);
  await holdMore.run(more.tx, { tenant: 1 }, STAMP);
  const steps = [...stepsOn(first.plans, 'agent_send'), ...stepsOn(more.plans, 'agent_send')];
  expect(steps).toHaveLength(2);
  for (const one of steps) expect(one).toContain(`INDEX ${index}`);
  expect([...first.plans, ...more.plans].flat().filter((one) => one.includes('TEMP B-TREE'))).toEqual([]);
});

test('letting go reads the queue, and what waits as a whole, from where it was on', async () => {
  await using world = await GateWorld.open();
  using looked = explained(world.box.dataDir);
  const from = { whole: 7, queued: 7, stop: 0 };
  await releaseStopped(looked.tx, { tenant: 1, credentials: ['tok_1'], from }, STAMP);
  expect(stepsOn(looked.plans, 'q')).toEqual(['SEARCH q USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)']);
  expect(stepsOn(looked.plans, 'd')).toEqual([
    'SEARCH d USING INDEX scheduled_tenant (tenant=? AND submission_id>? AND submission_id<?)',
  ]);
  expect(stepsOn(looked.plans, 'queue')).toEqual(['SEARCH queue USING INTEGER PRIMARY KEY (rowid>?)']);
  expect(looked.plans.flat().filter((one) => one.includes('TEMP B-TREE'))).toEqual([]);
});
