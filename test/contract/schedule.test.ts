import type { OutgoingMessage } from '../../mail/delivery/types.ts';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listWaiting } from '../support/list-waiting.ts';
import { releaseWaiting, scheduleMessage } from '../../mail/delivery/scheduled-messages.ts';
import { ScheduledMail } from '../../mail/jobs/scheduled-mail.ts';
import { quiet } from '../../mail/log.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { journalOf, OPERATOR_VIEW } from '../../mail/store/journal/journal.ts';
import { queueOfTrace } from '../../mail/store/queue/queue-rows.ts';
import { addSuppression } from '../../mail/store/queue/suppression.ts';
import { aliasNow, testAlias } from '../support/aliases.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';
import { outgoing } from '../support/submission.ts';

const MINUTE = 60_000;

const keep = command('test-keep', (tx, input: { mail: OutgoingMessage; until: number }, stamp): Promise<number> =>
  scheduleMessage(tx, input.mail, { until: input.until, heldBecause: null, skipsSuppressed: true }, stamp),
);
const forward = command('test-forward', async (tx, input: { to: string }, stamp): Promise<void> => {
  await tx.run(
    `INSERT INTO forwarder (organization_id, domain_id, source, source_key, destination, destination_key, keep_local, created_at)
     SELECT 1, id, 'sales@box.test', 'sales@box.test', ?1, ?1, 1, ?2 FROM domain WHERE name = 'box.test'`,
    input.to,
    stamp.now,
  );
});
const heldNow = query('test-held', (rx) =>
  rx.all<{ hold_reason: string | null; due_at: number }>('SELECT hold_reason, due_at FROM scheduled'),
);
const delivered = query(
  'test-delivered',
  async (rx) => (await rx.get<{ n: number }>('SELECT count(*) AS n FROM email'))?.n,
);

const giveAway = command('test-give-away', (tx, { name, to }: { name: string; to: number }) =>
  tx.run('UPDATE domain SET tenant = ? WHERE name = ?', to, name),
);
const stop = command('test-stop', (tx) => tx.run('UPDATE forwarder SET stopped = 1'));
const go = command('test-go', (tx) => tx.run('UPDATE forwarder SET stopped = 0'));

let box: TestStore;
let account: number;
let scheduler: ScheduledMail;
let woken: number;

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, keep, forward, giveAway, stop, go] });
  ({ account } = await testAccount(box.store));
  woken = 0;
  scheduler = new ScheduledMail({
    store: box.store,
    hostname: 'mail.box.test',
    clock: () => box.clock.now,
    log: quiet,
    forwardKey: Buffer.alloc(32),
    hold: null,
    traceId: () => 'report',
    queued: () => woken++,
  });
});
afterEach(async () => {
  await box[Symbol.asyncDispose]();
});

/** Schedules a message for a minute from now; a large one is a file of its own. */
async function later(trace: string, to: string[], size = 10): Promise<void> {
  const data = Buffer.from(`From: me@box.test\r\n\r\n${'x'.repeat(size)}\r\n`);
  const writer = box.store.files.create();
  await writer.write(data);
  const blob = await writer.finish();
  const local = to.filter((one) => one.endsWith('@box.test'));
  const elsewhere = to.filter((one) => !one.endsWith('@box.test'));
  const kept = 'data' in blob ? { data: blob.data, file: null } : { data: null, file: blob };
  const mail = outgoing(data, elsewhere, { trace, signAs: ['box.test'], local, ...kept });
  await box.store.write(keep, { mail, until: box.clock.now + MINUTE });
  if ('file' in blob) box.store.files.release(blob.file);
}

const story = async (trace: string) =>
  (await box.store.read(journalOf, { ...OPERATOR_VIEW, trace })).map(({ event, detail }) => [
    event,
    detail['to'] ?? detail['because'],
  ]);

test('a message whose octets are gone keeps back none behind it, and ends where somebody sees it', async () => {
  await later('broken', ['me@box.test'], 100_000);
  await later('good', ['me@box.test']);
  for (const dir of readdirSync(join(box.dataDir, 'blobs'))) {
    for (const file of readdirSync(join(box.dataDir, 'blobs', dir))) rmSync(join(box.dataDir, 'blobs', dir, file));
  }
  box.clock.now += MINUTE;
  await scheduler.run();
  expect(await story('good')).toContainEqual(['submitted', ['me@box.test']]);
  let rounds = 0;
  for (; (await scheduler.run()) !== undefined && rounds < 20; rounds++) box.clock.now += 60 * MINUTE;
  expect(rounds).toBeLessThan(13);
  const [row] = await box.store.read(heldNow, undefined);
  expect(row?.hold_reason).toMatch(/^failed to read or prepare the message/);
  expect((await story('broken')).at(-1)?.[0]).toBe('held');
  const [waiting] = await box.store.read(listWaiting, { tenant: 1, accounts: null, after: 0, limit: 9 });
  expect(waiting).toMatchObject({ trace: 'broken', heldBecause: row?.hold_reason });
  const id = waiting?.id ?? 0;
  expect(await box.store.write(releaseWaiting, { id })).toEqual({ kind: 'released' });
  expect(await box.store.write(releaseWaiting, { id })).toEqual({ kind: 'none' });
});

test('where recipients lead is decided when it goes: forwards of now, who is gone, who asked for no more', async () => {
  await later('one', ['sales@box.test', 'gone@box.test', 'you@x.example', 'no-more@x.example']);
  await box.store.write(forward, { to: 'shop@x.example' });
  await box.store.write(addSuppression, { tenant: 1, key: 'no-more@x.example', source: 'x' });
  box.clock.now += MINUTE;
  await scheduler.run();
  expect(woken).toBe(1);
  expect(await story('one')).toEqual([
    ['scheduled', ['sales@box.test', 'gone@box.test', 'you@x.example', 'no-more@x.example']],
    ['submitted', ['sales@box.test', 'you@x.example']],
    ['failed', 'gone@box.test'],
    ['suppressed', 'no-more@x.example'],
    ['forwarded', 'shop@x.example'],
  ]);
  const rows = await box.store.read(queueOfTrace, { ...OPERATOR_VIEW, trace: 'one' });
  expect(rows.map((row) => row.recipient)).toEqual(['you@x.example', 'shop@x.example']);
  expect(await box.store.read(delivered, undefined)).toBe(0);
});

test('a message that names a recipient twice, in other letters, goes when it is due', async () => {
  const to = ['you@x.example', 'You@x.example', 'you@x.example'];
  const mail = outgoing('From: me@box.test\r\n\r\nx', to, { trace: 'twice', account });
  await box.store.write(keep, { mail, until: box.clock.now + MINUTE });
  box.clock.now += MINUTE;
  await scheduler.run();
  expect((await story('twice')).map(([event]) => event)).toEqual(['scheduled', 'submitted']);
});

test('a message whose domain went to somebody else while it waited is held, and signed by nobody', async () => {
  await later('mine', ['you@x.example']);
  await box.store.write(giveAway, { name: 'box.test', to: 2 });
  box.clock.now += MINUTE;
  await scheduler.run();
  expect(woken).toBe(0);
  expect(await story('mine')).toEqual([
    ['scheduled', ['you@x.example']],
    ['held', 'box.test is not allowed as sender any more: not your domain, not verified, or paused'],
  ]);
});

test('a forward that passes nothing on for now keeps the message waiting', async () => {
  await box.store.write(forward, { to: 'shop@x.example' });
  await box.store.write(stop, undefined);
  await later('patient', ['sales@box.test']);
  box.clock.now += MINUTE;
  await scheduler.run();
  expect((await story('patient')).map(([event]) => event)).toEqual(['scheduled']);
  await box.store.write(go, undefined);
  box.clock.now += 2 * MINUTE;
  await scheduler.run();
  expect((await story('patient')).map(([event]) => event)).toEqual(['scheduled', 'submitted', 'forwarded']);
});

test('an alias takes its last message of several that are due at once; the others say that it has ended', async () => {
  const { account: anna } = await testAccount(box.store, 'anna');
  const id = await testAlias(box, 'once', { accounts: [anna], most: 1 });
  for (const trace of ['first', 'second']) await later(trace, ['once@box.test', 'you@remote.example']);
  box.clock.now += MINUTE;
  await scheduler.run();
  expect(await aliasNow(box, id)).toMatchObject({ used: 1 });
  expect(await box.store.read(delivered, undefined)).toBe(1);
  expect(await box.store.read(listWaiting, { tenant: 1, accounts: null, after: 0, limit: 9 })).toEqual([]);
  const events = async (trace: string) =>
    (await box.store.read(journalOf, { trace, ...OPERATOR_VIEW })).map((one) => one.event);
  const scenarios = await Promise.all(['first', 'second'].map(events));
  expect(scenarios.filter((one) => one.includes('failed'))).toHaveLength(1);
  expect(scenarios.every((one) => one.includes('submitted'))).toBe(true);
});
