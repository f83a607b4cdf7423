import { afterEach, beforeEach, expect, test } from 'vitest';
import { Housekeeping } from '../../../mail/jobs/housekeeping.ts';
import { quiet } from '../../../mail/log.ts';
import { dismissAccount } from '../../../mail/store/account-removal.ts';
import { overBudget, spend } from '../../../mail/store/budget.ts';
import { submit } from '../../../mail/delivery/submit.ts';
import { listWaiting } from '../../../mail/delivery/outbox.ts';
import { command, query } from '../../../mail/store/engine/types.ts';
import { resumeSender } from '../../../mail/store/paused-sender.ts';
import { freezeOrganization } from '../../../src/organizations/commands.ts';
import { removeOrganization } from '../../../src/organizations/removal-commands.ts';
import { releaseResumed } from '../../../src/sending/pause-commands.ts';
import { addUpload, findUpload, forgetUploads } from '../../../src/sending/upload-commands.ts';
import { freely, outgoing } from '../../support/submission.ts';
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
  spend(
    tx,
    [
      { subject: 'key_1', told: 'wait', rate: { perSecond: 0.1, burst: 1 } },
      { subject: `account/${account}`, told: 'wait', daily: 10, newRecipients: { account, most: 5 } },
    ],
    ['you@x.example'],
    stamp,
  ),
);
const over = query('test-over', (rx, { now }: { now: number }) =>
  overBudget(rx, [{ subject: 'key_1', told: 'wait', rate: { perSecond: 0.1, burst: 1 } }], ['you@x.example'], now),
);
const dismiss = command('test-dismiss', (tx, { account }: { account: number }) =>
  dismissAccount(tx, { tenant: 1, account }),
);

let box: SendWorld;
let jobs: Housekeeping;
beforeEach(async () => {
  box = await SendWorld.open({}, [use, dismiss]);
  jobs = new Housekeeping(box.world.store, box.world.clock, quiet, [forgetUploads, releaseResumed]);
});
afterEach(async () => {
  await jobs[Symbol.asyncDispose]();
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

test('what budgets remember goes when nothing asks for it any more, and not before', async () => {
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

test('whom a mailbox wrote to goes with it', async () => {
  const account = await box.account('me@a.test');
  await box.world.store.write(use, { account });
  await box.world.store.write(dismiss, { account });
  await jobs.run();
  expect((await count())?.met).toBe(0);
});

test('an upload that has expired goes with its octets, whoever uploads again or not', async () => {
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

test('what has expired and is still there takes no room from what is uploaded now', async () => {
  for (let n = 0; n < 100; n++) await upload(`old${n}`, 1);
  expect(await upload('new', 1)).toEqual({ kind: 'too-many' });
  box.made.store.clock.now += DAY;
  expect(await upload('new', 1)).toMatchObject({ kind: 'uploaded' });
});

test('uploads of an organization that is removed go with it', async () => {
  await upload('mine', 10);
  await upload('theirs', 10, 2);
  await box.world.store.write(freezeOrganization, { id: 1, frozen: true });
  while ((await box.world.store.write(removeOrganization, { id: 1 })).kind === 'removing');
  expect(await count()).toMatchObject({ uploads: 1, blobs: 1 });
});

test('what is still held for a sender that was resumed goes, though nobody asks again; not while its organization is frozen', async () => {
  const { store } = box.world;
  const held = async (): Promise<number> => {
    const rows = await store.read(listWaiting, { tenant: 1, accounts: null, after: 0, limit: 1000 });
    return rows.filter((row) => row.heldBecause !== null).length;
  };
  const strangers = Array.from({ length: 501 }, (_, n) => `n${n}@else.example`);
  for (let n = 0; n < 450; n++) {
    const to = n === 0 ? strangers : ['one@else.example'];
    const mail = outgoing('From: me@box.test\r\n\r\n', to, { trace: `t${n}`, account: null, tenant: 1, sender: '' });
    await store.write(submit, { ...freely(mail), budgets: [{ subject: 'key_1', told: '', watched: true }] });
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
