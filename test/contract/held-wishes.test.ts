import { afterEach, beforeEach, expect, test } from 'vitest';
import { listWaiting } from '../support/list-waiting.ts';
import { releaseWaiting } from '../../mail/delivery/scheduled-messages.ts';
import { ScheduledMail } from '../../mail/jobs/scheduled-mail.ts';
import { quiet } from '../../mail/log.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { receiveMessage, testBackend } from '../support/receive-message.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const forward = command('test-forward', async (tx, input: { from: string; to: string }, stamp): Promise<void> => {
  await tx.run(
    `INSERT INTO forwarder (organization_id, domain_id, source, source_key, destination, destination_key, keep_local, created_at)
     SELECT 1, id, ?1, ?1, ?2, ?2, 1, ?3 FROM domain WHERE name = 'box.test'`,
    input.from,
    input.to,
    stamp.now,
  );
});
const stored = query('test-stored', (rx, input: { account: number }) =>
  rx.all<{ data: Uint8Array }>(
    'SELECT b.data FROM email e JOIN blob b ON b.id = e.blob_id WHERE e.account_id = ? ORDER BY e.id',
    input.account,
  ),
);

let box: TestStore;
let account: number;
let scheduler: ScheduledMail;
beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, forward] });
  ({ account } = await testAccount(box.store));
  scheduler = new ScheduledMail({
    store: box.store,
    hostname: 'mail.box.test',
    clock: () => box.clock.now,
    log: quiet,
    forwardKey: Buffer.alloc(32),
    hold: null,
    traceId: () => 'report',
    queued: () => undefined,
  });
});
afterEach(async () => {
  await box[Symbol.asyncDispose]();
});

/** A person sends it, it is held as a whole, and let go. */
async function heldAndReleased(to: string, dsn: { notify: readonly ('SUCCESS' | 'DELAY')[]; orcpt: string }) {
  const backend = testBackend(box, { policy: () => ({ kind: 'hold', because: 'a person looks at it' }) });
  const body = 'From: me@box.test\nSubject: hello\n\nhello\n';
  const mail = { from: 'me@box.test', to, body, login: { account, address: 'me@box.test' } };
  expect(await receiveMessage(backend, { ...mail, dsn, envid: 'a+b c', ret: 'FULL' })).toEqual({ kind: 'accepted' });
  const [one] = await box.store.read(listWaiting, { tenant: 1, accounts: [account], after: 0, limit: 9 });
  expect(await inbox()).toEqual([]);
  await box.store.write(releaseWaiting, { id: one?.id ?? 0 });
  await scheduler.run();
}

const inbox = async (): Promise<string[]> =>
  (await box.store.read(stored, { account })).map((row) => Buffer.from(row.data).toString());

test('what was asked about a recipient elsewhere is still asked after a hold', async () => {
  await heldAndReleased('you@x.example', { notify: ['SUCCESS', 'DELAY'], orcpt: 'rfc822;you+1@x.example' });
  const queue = new StoreQueue({ store: box.store, hold: null, traceId: () => 'bounce' });
  const { items } = await queue.due({ now: box.clock.now, limit: 9, lanes: [], owners: [], after: undefined });
  expect(items).toMatchObject([
    { notify: 'SUCCESS,DELAY', orcpt: 'rfc822;you+1@x.example', envid: 'a+b c', ret: 'FULL' },
  ]);
});

test.each([
  ['me+x@box.test', 'delivered', 2],
  ['sales@box.test', 'expanded', 1],
])('success with %s is reported when it leaves, as %s', async (to, action, messages) => {
  await box.store.write(forward, { from: 'sales@box.test', to: 'shop@x.example' });
  await heldAndReleased(to, { notify: ['SUCCESS'], orcpt: 'rfc822;first@x.example' });
  const all = await inbox();
  expect(all).toHaveLength(messages);
  const report = all.find((one) => one.includes('multipart/report'));
  expect(report).toContain(`Final-Recipient: rfc822; ${to}\r\nAction: ${action}`);
  expect(report).toContain('Original-Recipient: rfc822;first@x.example');
  expect(report).toContain('Original-Envelope-Id: a+b c');
});

test('nobody is informed who did not ask', async () => {
  await heldAndReleased('me@box.test', { notify: ['DELAY'], orcpt: '' });
  expect(await inbox()).toHaveLength(1);
});
