import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mailParts } from '../../mail/store-thread-parts.ts';
import type { AttemptResult } from '../../mail/store/queue/queue.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { addBlob } from '../../mail/store/blob/blob.ts';
import { command } from '../../mail/store/engine/types.ts';
import { OPERATOR_VIEW } from '../../mail/store/journal/journal.ts';
import { enqueue } from '../../mail/store/queue/queue.ts';
import { queueOfTrace } from '../../mail/store/queue/queue-rows.ts';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const HOUR = 3_600_000;

interface Copy {
  trace: string;
  file: string;
  size: number;
  fallback: number;
}
/** A copy that goes on, of what its mailbox keeps only when it fails. */
const forwarded = command(
  'test-forwarded',
  async (tx, { trace, file, size, fallback }: Copy, stamp): Promise<number> => {
    const blob = await addBlob(tx, { file, size });
    const message = {
      trace,
      tenant: 1,
      account: null,
      blob,
      sender: 'SRS0=x@box.test',
      smtputf8: false,
      eightBit: false,
    };
    const row = { recipient: 'far@x.example', domain: 'x.example', notify: 'NEVER', orcpt: '', fallback };
    const [id = 0] = await enqueue(tx, { ...message, ret: '', envid: '', signAs: null, size }, [row], null, stamp);
    return id;
  },
);

let box: TestStore;
/** Deletes the account so that it can be restored. */
const retire = command('test-retire', async (tx, input: { account: number }): Promise<void> => {
  await tx.run('UPDATE account SET state = 3 WHERE id = ?', input.account);
});

let queue: StoreQueue;
let account: number;
beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, forwarded, retire] });
  ({ account } = await testAccount(box.store));
  queue = new StoreQueue({ store: box.store, hold: null, traceId: () => 'report' });
});
afterEach(() => box[Symbol.asyncDispose]());

/** Large enough for a file of its own. */
async function put(trace: string): Promise<number> {
  const data = Buffer.from(`From: you@y.example\r\nSubject: ${trace}\r\n\r\n${'x'.repeat(100_000)}\r\n`);
  const writer = box.store.files.create();
  await writer.write(data);
  const blob = await writer.finish();
  if (!('file' in blob)) throw new Error('it is small');
  const id = await box.store.write(forwarded, { trace, ...blob, fallback: account });
  box.store.files.release(blob.file);
  await queue.begin([{ id, nextAt: box.clock.now }]);
  return id;
}
const failed = (id: number): AttemptResult => ({
  id,
  outcome: 'failed',
  host: '',
  ip: '',
  code: 550,
  status: '5.1.1',
  text: 'no such user',
  tls: '',
  at: box.clock.now,
  nextAt: 0,
});
const waiting = async (trace: string) =>
  (await box.store.read(queueOfTrace, { ...OPERATOR_VIEW, trace })).map((row) => row.next_at - box.clock.now);
const inInbox = async () => (await box.store.read(findMailbox, { account, name: 'INBOX' }))?.total;

test('a forward that failed, and whose mail cannot be read just now, waits; the others come into the mailbox', async () => {
  const lost = await put('lost');
  for (const dir of readdirSync(join(box.dataDir, 'blobs'))) {
    for (const file of readdirSync(join(box.dataDir, 'blobs', dir))) rmSync(join(box.dataDir, 'blobs', dir, file));
  }
  const good = await put('good');
  await queue.finish([failed(lost), failed(good)], []);
  expect([await waiting('lost'), await waiting('good'), await inInbox()]).toEqual([[HOUR], [], 1]);
});

test('a forward that failed comes into its mailbox also when that was deleted meanwhile', async () => {
  const id = await put('late');
  await box.store.write(retire, { account });
  await queue.finish([failed(id)], []);
  expect([await waiting('late'), await inInbox()]).toEqual([[], 1]);
});
