import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RetentionJob } from '../../../mail/jobs/retention.ts';
import { quiet } from '../../../mail/log.ts';
import { removedAccounts } from '../../../mail/store/account/account-removal.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { MailStore } from '../../../mail/store/store.ts';
import { rowId } from '../../../src/core/ids.ts';
import { purgeDeletedMailboxes } from '../../../src/mailboxes/deletion-commands.ts';
import { addEmailDomain } from '../../../src/operations/domains/add.ts';
import { deleteEmail } from '../../../src/operations/mailboxes/delete.ts';
import { provisionEmail } from '../../../src/operations/mailboxes/provision.ts';
import { storeParts } from '../../../src/start/store-parts.ts';
import { calls, type Calls } from '../../support/calls.ts';
import { putMail } from '../../support/put-mail.ts';

const DAY_MS = 86_400_000;
/** Several slices of 100. */
const MESSAGES = 420;
const LARGE = 7;

let box: Calls;
beforeEach(async () => {
  box = await calls();
});
afterEach(() => box[Symbol.asyncDispose]());

const files = (): string[] =>
  readdirSync(join(box.test.store.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ name }) => name);

const count = (table: 'email' | 'entry' | 'account' | 'blob') =>
  box.test.store.store
    .read(
      query('test-count', (rx) => rx.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)),
      undefined,
    )
    .then((row) => row?.n);

/** A process that purges what is due. It prints a line while the slice after `slices` others is written, and goes no further. */
function purger(dataDir: string, now: number, slices: number): string {
  const at = (path: string): string => JSON.stringify(new URL(`../../../${path}`, import.meta.url).href);
  return `import { MailStore } from ${at('mail/store/store.ts')};
    import { purgeRemovedAccount, removedAccounts } from ${at('mail/store/account/account-removal.ts')};
    import { purgeDeletedMailboxes } from ${at('src/mailboxes/deletion-commands.ts')};
    import { storeParts } from ${at('src/start/store-parts.ts')};
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const meter = { count() {}, observe() {}, gauge() {} };
    const store = await MailStore.open({ dataDir: ${JSON.stringify(dataDir)}, engine: storeParts(), keepFree: 0,
      clock: () => ${now}, log, meter, fatal: (error) => { throw error; } });
    while (await store.writeSlice(purgeDeletedMailboxes, undefined));
    const [account] = await store.read(removedAccounts, undefined);
    for (let slice = 0; slice < ${slices}; slice++) {
      const done = await store.writeSlice(purgeRemovedAccount, { account });
      for (const file of done.files) await store.files.remove(file);
    }
    void store.writeSlice(purgeRemovedAccount, { account });
    console.log('writing');
    setInterval(() => undefined, 1_000);`;
}

test.each([1, 3])('a purge that is killed after %i slices is finished after the next start', async (slices) => {
  const owner = await box.organization('Owner');
  await box.done(owner, addEmailDomain, { domain: 'shop.example' });
  const made = await box.done<{ mailbox: { id: string } }>(owner, provisionEmail, {
    domain: 'shop.example',
    localPart: 'anna',
  });
  const kept = await box.done<{ mailbox: { id: string } }>(owner, provisionEmail, {
    domain: 'shop.example',
    localPart: 'kept',
  });
  const account = rowId('mailbox', made.mailbox.id) ?? 0;
  for (let i = 0; i < MESSAGES; i++) {
    const body = i < LARGE ? 'x'.repeat(70).concat('\n').repeat(1_000) : 'hello\n';
    await putMail(
      box.world.store,
      { account, receivedAt: box.world.clock() },
      `Message-ID: <${i}@a.example>\nSubject: ${i}\n\n${body}`,
    );
  }
  await putMail(
    box.world.store,
    { account: rowId('mailbox', kept.mailbox.id) ?? 0, receivedAt: 1 },
    'Subject: stays\n\nhello\n',
  );
  expect(files()).toHaveLength(LARGE);
  await box.done(owner, deleteEmail, { mailboxId: made.mailbox.id });
  expect(await count('email')).toBe(MESSAGES + 1);

  const { clock, dataDir } = box.test.store;
  clock.now += 31 * DAY_MS;
  await box.test.store.store[Symbol.asyncDispose]();
  const child = spawn(process.execPath, ['--input-type=module', '-e', purger(dataDir, clock.now, slices)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await ended;

  const options = { dataDir, engine: storeParts(), keepFree: 0, clock: () => clock.now, log: quiet, meter: quiet };
  const store = await MailStore.open({ ...options, fatal: (error) => expect.fail(error.message) });
  box.test.store.store = store;
  const left = (await count('email')) ?? 0;
  expect(left).toBeGreaterThan(1);
  expect(left).toBeLessThanOrEqual(MESSAGES + 1 - 100 * slices);
  expect(await store.read(removedAccounts, undefined)).toEqual([account]);
  const job = new RetentionJob(store, () => clock.now, quiet, [purgeDeletedMailboxes]);
  await job.run();
  expect([await count('account'), await count('email'), await count('entry'), await count('blob')]).toEqual([
    1, 1, 1, 1,
  ]);
  expect(files()).toEqual([]);
});
