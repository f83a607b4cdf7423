import { expect, test } from 'vitest';
import { submit } from '../../mail/delivery/submission-commit.ts';
import { finishAttempts } from '../../mail/relay/store-queue.ts';
import { resumeInterrupted } from '../../mail/store/queue/interrupted.ts';
import { beginAttempts } from '../../mail/store/queue/queue.ts';
import { listQueue } from '../../mail/store/queue/queue-rows.ts';
import { outgoing, unlimitedSubmission } from '../support/submission.ts';
import { testAccount, testStore } from '../support/store.ts';

const MINUTE = 60_000;

test('an attempt without a result is made again soon, and one that has a result, was made often, or is not begun keeps its time', async () => {
  await using box = await testStore();
  const { account } = await testAccount(box.store);
  const to = ['interrupted', 'deferred', 'often', 'untried'].map((local) => `${local}@remote.test`);
  const mail = outgoing('From: me@box.test\r\n\r\nhello\r\n', to, { trace: 't1', account });
  const taken = await box.store.write(submit, unlimitedSubmission(mail));
  const [interrupted = 0, deferred = 0, often = 0, untried = 0] = taken.kind === 'taken' ? taken.rows : [];
  const later = box.clock.now + 5 * MINUTE;
  const begin = (id: number): Promise<unknown> => box.store.write(beginAttempts, { items: [{ id, nextAt: later }] });
  for (const id of [interrupted, deferred, often, often, often]) await begin(id);
  const result = { host: 'mx.remote.test', ip: '192.0.2.1', code: 450, status: '4.7.1', text: 'later', tls: '' };
  const end = { id: deferred, outcome: 'deferred', ...result, at: box.clock.now, nextAt: later } as const;
  await box.store.write(finishAttempts, { ends: [end], bounces: [], fallbacks: [] });
  box.clock.now += 1;
  const at = box.clock.now + MINUTE;
  expect(await box.store.write(resumeInterrupted, { at })).toBe(1);
  const filter = { tenant: 1, accounts: null, state: null, domain: null };
  const rows = await box.store.read(listQueue, { ...filter, after: 0, limit: 10 });
  const due = new Map(rows.map((row) => [row.id, row.next_at]));
  expect([interrupted, deferred, often].map((id) => due.get(id))).toEqual([at, later, later]);
  expect(due.get(untried)).toBeLessThan(at);
});
