import { afterEach, beforeEach, expect, test } from 'vitest';
import { RetentionJob } from '../../../mail/jobs/retention.ts';
import { quiet } from '../../../mail/log.ts';
import { removeAccount } from '../../../mail/store/account/account-removal.ts';
import { overBudget, countBudget } from '../../../mail/store/limit/budget.ts';
import { submit } from '../../../mail/delivery/submission-commit.ts';
import { listWaiting } from '../../support/list-waiting.ts';
import { command, query } from '../../../mail/store/engine/types.ts';
import { resumeSender } from '../../../mail/store/limit/paused-sender.ts';
import { freezeOrganization } from '../../../src/organizations/commands.ts';
import { removeOrganization } from '../../../src/organizations/removal-commands.ts';
import { releaseResumed } from '../../../src/sending/pause-commands.ts';
import { addUpload, findUpload, purgeUploads } from '../../../src/sending/upload-commands.ts';
import { unlimitedSubmission, outgoing } from '../../support/submission.ts';
import { SendWorld } from '../../support/send-world.ts';

const DAY = 24 * 3_600_000;
const counts = query('test-counts', (rx) =>
  rx.get<Record<'rates' | 'used' | 'met' | 'uploads' | 'blobs', number>>(
    `SELECT (SELECT count(*) FROM budget_rate) AS rates, (SELECT count(*) FROM budget_use) AS used,
       (SELECT count(*) FROM correspondent) AS met, (SELECT count(*) FROM upload) AS uploads,
       (SELECT count(*) FROM blob) AS blobs`,
  ),
);
/** Two messages, of a key that sends one in ten seconds and of a mailbox to somebody whom it never met. */
const use = command('test-use', (tx, { account }: { account: number }, stamp) =>
  countBudget(
    tx,
    [
      { subject: 'key_1', explanation: 'wait', rate: { perSecond: 0.1, burst: 1 } },
      { subject: `account/${account}`, explanation: 'wait', daily: 10, newRecipients: { account, most: 5 } },
    ],
    ['you@x.example'],
    stamp,
  ),
);
const over = query('test-over', (rx, { now }: { now: number }) =>
  overBudget(
    rx,
    [{ subject: 'key_1', explanation: 'wait', rate: { perSecond: 0.1, burst: 1 } }],
    ['you@x.example'],
    now,
  ),
);
const dismiss = command('test-dismiss', (tx, { account }: { account: number }) =>
  removeAccount(tx, { tenant: 1, account }),
);

let box: SendWorld;
let jobs: RetentionJob;
beforeEach(async () => {
  box = await SendWorld.open({}, [use, dismiss]);
  jobs = new RetentionJob(box.world.store, box.world.clock, quiet, [purgeUploads, releaseResumed]);
});
afterEach(async () => {
  await box[Symbol.asyncDispose]();
});

const count = () => box.world.store.read(counts, undefined);
const upload = (name: string, size: number, organization = 1) =>
  box.world.store.write(addUpload, {
    organization,
    credential: `key_${organization}`,
    name,
    data: new Uint8Array(size),
    file: null,
  });

test('budget counters are purged after their last window, not earlier', async () => {
  await box.world.store.write(use, { account: await box.account('me@a.test') });
  await jobs.run();
  expect(await count()).toMatchObject({ rates: 1, used: 1, met: 1 });
  expect(await box.world.store.read(over, { now: box.world.clock() })).toMatchObject({ what: 'rate' });
  box.made.store.clock.now += 10_000;
  await jobs.run();
  expect(await count()).toMatchObject({ rates: 0, used: 1 });
  expect(await box.world.store.read(over, { now: box.world.clock() })).toBeUndefined();
  box.made.store.clock.now += DAY;
  await jobs.run();
  expect((await count())?.used).toBe(1);
  box.made.store.clock.now += 20 * 60_000;
  await jobs.run();
  expect(await count()).toMatchObject({ used: 0, met: 1 });
});

test('contacted recipients are deleted with the mailbox', async () => {
  const account = await box.account('me@a.test');
  await box.world.store.write(use, { account });
  await box.world.store.write(dismiss, { account });
  await jobs.run();
  expect((await count())?.met).toBe(0);
});

test('an expired upload is purged with its octets, even without another upload', async () => {
  await upload('one', 10);
  box.made.store.clock.now += DAY - 1;
  await upload('two', 10);
  await jobs.run();
  expect(await count()).toMatchObject({ uploads: 2, blobs: 2 });
  box.made.store.clock.now += 1;
  await jobs.run();
  expect(await count()).toMatchObject({ uploads: 1, blobs: 1 });
  const found = { credential: 'key_1', name: 'two', now: box.world.clock() };
  expect(await box.world.store.read(findUpload, found)).toMatchObject({ size: 10 });
});

test('expired uploads do not count against the limit', async () => {
  for (let n = 0; n < 100; n++) await upload(`old${n}`, 1);
  expect(await upload('new', 1)).toEqual({ kind: 'too-many' });
  box.made.store.clock.now += DAY;
  expect(await upload('new', 1)).toMatchObject({ kind: 'uploaded' });
});

test('uploads are deleted with their organization', async () => {
  await upload('mine', 10);
  await upload('theirs', 10, 2);
  await box.world.store.write(freezeOrganization, { id: 1, frozen: true });
  while ((await box.world.store.write(removeOrganization, { id: 1 })).kind === 'removing');
  expect(await count()).toMatchObject({ uploads: 1, blobs: 1 });
});

test('mail still held for a resumed sender is released automatically; not while its organization is frozen', async () => {
  const { store } = box.world;
  const held = async (): Promise<number> => {
    const rows = await store.read(listWaiting, { tenant: 1, accounts: null, after: 0, limit: 1000 });
    return rows.filter((row) => row.heldBecause !== null).length;
  };
  const strangers = Array.from({ length: 501 }, (_, n) => `n${n}@else.example`);
  for (let n = 0; n < 450; n++) {
    const to = n === 0 ? strangers : ['one@else.example'];
    const mail = outgoing('From: me@box.test\r\n\r\n', to, { trace: `t${n}`, account: null, tenant: 1, sender: '' });
    await store.write(submit, {
      ...unlimitedSubmission(mail),
      budgets: [{ subject: 'key_1', explanation: '', watched: true }],
    });
  }
  expect(await held()).toBe(450);
  await jobs.run();
  expect(await held()).toBe(450);
  expect(await store.write(resumeSender, { sender: 'key_1', tenant: 1 })).toMatchObject({ more: true });
  expect(await held()).toBe(250);
  await store.write(freezeOrganization, { id: 1, frozen: true });
  const frozen = await held();
  await jobs.run();
  expect(await held()).toBe(frozen);
  await store.write(freezeOrganization, { id: 1, frozen: false });
  await jobs.run();
  expect(await held()).toBe(0);
});
