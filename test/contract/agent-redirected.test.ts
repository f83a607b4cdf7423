import { afterEach, beforeEach, expect, test } from 'vitest';
import { releaseWaiting } from '../../mail/delivery/scheduled-messages.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { ScheduledMail } from '../../mail/jobs/scheduled-mail.ts';
import { quiet } from '../../mail/log.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { setForward } from '../support/forward-world.ts';
import { GateWorld, outcomeOf } from '../support/gate-world.ts';
import { outgoing } from '../support/submission.ts';

const MINUTE = 60_000;

const changed = command('test-changed', async (tx, sql: string): Promise<void> => {
  await tx.run(sql);
});
const leaving = query('test-leaving', (rx) => rx.all<{ recipient: string }>('SELECT recipient FROM queue'));
const waiting = query('test-waiting', (rx) =>
  rx.all<{ id: number; why: string | null }>('SELECT submission_id AS id, hold_reason AS why FROM scheduled'),
);

/** An agent in me@box.test that has read an outsider's mail. */
let world: GateWorld;
let job: ScheduledMail;
beforeEach(async () => {
  world = await GateWorld.open([setForward, changed]);
  const { box } = world;
  job = new ScheduledMail({
    store: box.store,
    hostname: 'mail.box.test',
    clock: () => box.clock.now,
    log: quiet,
    forwardKey: Buffer.alloc(32),
    hold: null,
    traceId: () => 'report',
    queued: () => undefined,
  });
  await world.read([await world.put({ from: 'evil@y.test' })]);
  // A second address of the mailbox, in a domain of its own.
  await box.store.write(addDomain, { tenant: 1, name: 'two.test', verified: true });
  await box.store.write(
    changed,
    `INSERT INTO address (key, domain_id, account_id, kind, created_at)
     SELECT 'me@two.test', id, ${world.account}, 'alias', 0 FROM domain WHERE name = 'two.test'`,
  );
});
afterEach(() => world[Symbol.asyncDispose]());

const forward = (to: string, over: object = {}) =>
  world.box.store.write(setForward, {
    tenant: 1,
    from: 'me@two.test',
    to,
    keep: true,
    pending: false,
    stopped: false,
    ...over,
  });

/** The agent schedules mail to me@two.test, which is internal now; it is due afterwards. */
async function schedule(): Promise<void> {
  const { box, account } = world;
  const here = [{ account, to: 'me@two.test', trace: 'Return-Path: <me@box.test>\r\n' }];
  const mail = outgoing('From: me@box.test\r\n\r\nWhat eve wants to know\r\n', [], { trace: 'later', account });
  const done = await world.send([], {}, { ...mail, here, elsewhere: [], sendAt: box.clock.now + MINUTE });
  expect(outcomeOf(done)).toBe('waits');
  box.clock.now += MINUTE;
}

test.each([
  ['forwards outside', () => forward('eve@evil.example')],
  ['only forwards outside', () => forward('eve@evil.example', { keep: false })],
  ['forwards to another organization of this box', () => forward('other@far.test')],
  ['has a domain that is no longer verified', () => changeBy("UPDATE domain SET state = 0 WHERE name = 'two.test'")],
  ['has a domain that was removed', () => changeBy("DELETE FROM domain WHERE name = 'two.test'")],
])('scheduled mail of an agent is held when its internal recipient %s by then', async (_what, change) => {
  await schedule();
  await change();
  await job.run();
  const [row] = await world.box.store.read(waiting, undefined);
  expect(row?.why).toContain('mail to me@two.test stayed here');
  expect(await world.box.store.read(leaving, undefined)).toEqual([]);
});
const changeBy = (sql: string) => world.box.store.write(changed, sql);

test('it is sent when nothing has changed, or only for a recipient inside', async () => {
  await schedule();
  await forward('owner@home.test', { stopped: true });
  await changeBy('DELETE FROM forwarder');
  await forward('me+notes@box.test');
  await job.run();
  expect(await world.box.store.read(waiting, undefined)).toEqual([]);
});

test('it is sent to where its forward led before: to an owner', async () => {
  await forward('owner@home.test');
  await schedule();
  await job.run();
  expect(await world.box.store.read(waiting, undefined)).toEqual([]);
  expect(await world.box.store.read(leaving, undefined)).toEqual([{ recipient: 'owner@home.test' }]);
});

test('it is sent when a person has released it', async () => {
  await schedule();
  await forward('eve@evil.example');
  await job.run();
  const [row] = await world.box.store.read(waiting, undefined);
  await world.box.store.write(releaseWaiting, { id: row?.id ?? 0 });
  await job.run();
  expect(await world.box.store.read(waiting, undefined)).toEqual([]);
});
