import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listWaiting } from '../support/list-waiting.ts';
import { recordReceivedReport } from '../../mail/delivery/received-report.ts';
import { sendScheduled } from '../../mail/delivery/scheduled-messages.ts';
import { submit, type SubmissionResult } from '../../mail/delivery/submission-commit.ts';
import { sendVacationAnswer, type VacationAnswerResult } from '../../mail/delivery/vacation-answer.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { finishAttempts } from '../../mail/relay/store-queue.ts';
import { findSentCopy } from '../../mail/store/queue/sent-copies.ts';
import { command } from '../../mail/store/engine/types.ts';
import { journalOf, OPERATOR_VIEW } from '../../mail/store/journal/journal.ts';
import { PAUSED, pausedSenders, resumeSender } from '../../mail/store/limit/paused-sender.ts';
import { beginAttempts } from '../../mail/store/queue/queue.ts';
import { listQueue } from '../../mail/store/queue/queue-rows.ts';
import { purgeSenderUse } from '../../mail/store/limit/sender-use.ts';
import { changeQueue } from '../../mail/store/queue/queue-change.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Records a complaint about one copy; `digest` identifies the report. */
const complain = command('test-complain', async (tx, { id, digest }: { id: number; digest: string }, stamp) => {
  const copy = await findSentCopy.run(tx, { id });
  if (copy === undefined) throw new Error('no such copy');
  const said = { kind: 'complained', feedback: 'abuse' } as const;
  return recordReceivedReport(tx, { copy, digest, effect: said, delivery: null }, 'report', stamp);
});

/** A message came that gets an answer; the id of the job. */
const away = command('test-away', async (tx, { account: of }: { account: number }): Promise<number> => {
  await tx.run('INSERT INTO vacation_job (account_id, email_id, at) VALUES (?, 1, 0)', of);
  return (await tx.get<{ id: number }>('SELECT max(id) AS id FROM vacation_job'))?.id ?? 0;
});

let box: TestStore;
let account: number;
let sent: number;
beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, complain, away] });
  ({ account } = await testAccount(box.store));
  sent = 0;
});
afterEach(() => box[Symbol.asyncDispose]());

interface Sender {
  account: number | null;
  tenant: number;
  subject: string;
  address?: string;
}

const mailbox = (): Sender => ({ account, tenant: 1, subject: `account/${account}` });

/** One message of a sender that is watched. */
function send(to: readonly string[], from = mailbox(), sendAt: number | null = null): Promise<SubmissionResult> {
  const { account: own, tenant, subject, address = 'me@box.test' } = from;
  const text = `From: ${address}\r\nSubject: Hello\r\n\r\nText\r\n`;
  const mail = outgoing(text, to, { trace: `trace-${++sent}`, account: own, tenant, sender: address });
  return box.store.write(submit, {
    ...unlimitedSubmission(mail),
    sendAt,
    budgets: [{ subject, explanation: '', watched: true }],
  });
}

async function meet(count: number, from = mailbox()): Promise<SubmissionResult[]> {
  const done: SubmissionResult[] = [];
  for (let i = 0; i < count; i++) done.push(await send([`new${sent}@elsewhere.test`], from));
  return done;
}

const paused = (tenant = 1) => box.store.read(pausedSenders, { tenant, after: '', limit: 10 });
const waiting = () => box.store.read(listWaiting, { tenant: 1, accounts: null, after: 0, limit: 1000 });
const queue = (state: 'due' | 'held') => {
  const all = { tenant: 1, accounts: null, state, domain: null, after: 0, limit: 10_000 };
  return box.store.read(listQueue, all);
};
const begin = (ids: readonly number[]) =>
  box.store.write(beginAttempts, { items: ids.map((id) => ({ id, nextAt: box.clock.now + HOUR })) });

/** The server of a recipient says that it does not exist. */
async function bounce(ids: readonly number[], status = '5.1.1'): Promise<void> {
  await begin(ids);
  const end = { host: 'mx.test', ip: '192.0.2.1', code: 550, status, text: 'No such user', tls: '', nextAt: 0 };
  const ends = ids.map((id) => ({ ...end, id, outcome: 'failed' as const, at: box.clock.now }));
  await box.store.write(finishAttempts, { ends, bounces: [], fallbacks: [] });
}

const kinds = (done: readonly SubmissionResult[]) => Map.groupBy(done, (one) => one.kind);

describe('a mailbox that suddenly writes to strangers', () => {
  test('is paused at the 101st; that one and what follows is kept, and what was queued does not leave', async () => {
    const done = kinds(await meet(150));
    expect([done.get('taken')?.length, done.get('waits')?.length]).toEqual([100, 50]);
    const [one, ...others] = await paused();
    expect(others).toEqual([]);
    expect(one).toMatchObject({ sender: `account/${account}`, account, figures: { newRecipients: 101, limit: 100 } });
    const held = await waiting();
    expect(held).toHaveLength(50);
    expect(new Set(held.map((item) => item.heldBecause))).toEqual(new Set([`${PAUSED}: ${one?.why}`]));
    const due = await queue('due');
    expect(await begin(due.map((row) => row.id))).toEqual([]);
    expect(await queue('held')).toHaveLength(100);
    // Nor does it when somebody releases the row: the gate asks again.
    const [row] = await queue('held');
    await box.store.write(changeQueue, { ids: [row?.id ?? 0], what: 'release', tenant: 1, accounts: null });
    expect(await begin([row?.id ?? 0])).toEqual([]);
  });

  test('is paused exactly once, however many messages come at once', async () => {
    await Promise.all(Array.from({ length: 90 }, (_, n) => send([`a${n}@elsewhere.test`])));
    const done = kinds(await Promise.all(Array.from({ length: 50 }, (_, n) => send([`b${n}@elsewhere.test`]))));
    expect([done.get('taken')?.length, done.get('waits')?.length]).toEqual([10, 40]);
    const scenarios = await Promise.all(
      Array.from({ length: sent }, (_, n) => box.store.read(journalOf, { ...OPERATOR_VIEW, trace: `trace-${n + 1}` })),
    );
    const lines = scenarios.flat().filter((line) => line.event === 'paused');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.detail['because']).toContain('it wrote to 101 new recipients within an hour');
  });

  test('stays paused over a restart', async () => {
    await meet(101);
    await box.reopen();
    expect(await paused()).toHaveLength(1);
    expect((await send(['known@elsewhere.test'])).kind).toBe('waits');
  });

  test('is seen in one message to many, too', async () => {
    const list = Array.from({ length: 101 }, (_, n) => `n${n}@elsewhere.test`);
    expect((await send(list)).kind).toBe('waits');
  });

  test('takes nobody else with it: another tenant, and another mailbox', async () => {
    await meet(101);
    const other = { account: null, tenant: 2, subject: 'key_9' };
    await meet(101, other);
    expect(await paused(2)).toEqual([]);
    const key = { account: null, tenant: 1, subject: 'key_1' };
    expect(await paused()).toHaveLength(1);
    expect((await send(['x@elsewhere.test'], key)).kind).not.toBe('refused');
    expect(await box.store.write(resumeSender, { sender: `account/${account}`, tenant: 2 })).toMatchObject({
      kind: 'none',
    });
    expect(await paused()).toHaveLength(1);
  });
});

test('a scheduled message whose sender is paused meanwhile is held at its time', async () => {
  const done = await send(['friend@elsewhere.test'], mailbox(), box.clock.now + HOUR);
  expect(done).toMatchObject({ kind: 'waits', heldBecause: null });
  await meet(101);
  const id = done.kind === 'waits' ? done.submission : 0;
  const index = indexMessage(Buffer.from('From: me@box.test\r\n\r\n'));
  const to = { recipient: 'friend@elsewhere.test', domain: 'elsewhere.test', notify: '', orcpt: '' };
  const where = { here: [], local: [], elsewhere: [to], onward: [], unreachable: [], suppressed: [] };
  expect(await box.store.write(sendScheduled, { id, index, hold: null, sha256: '', ...where })).toEqual({
    queued: false,
  });
  expect((await waiting()).find((item) => item.id === id)?.heldBecause).toContain(PAUSED);
});

test('who writes to the same people every day is never paused', async () => {
  const list = Array.from({ length: 90 }, (_, n) => `reader${n}@elsewhere.test`);
  for (let day = 0; day < 14; day++) {
    expect((await send([...list, `new${day}@elsewhere.test`])).kind).toBe('taken');
    box.clock.now += DAY;
  }
  for (let round = 0; round < 5; round++) expect((await send(list)).kind).toBe('taken');
  expect(await paused()).toEqual([]);
});

describe('what comes back', () => {
  test('30 % of 50 strangers that do not exist pause the sender once, with the figures', async () => {
    await meet(50);
    const rows = (await queue('due')).map((row) => row.id);
    await bounce(rows.slice(0, 9));
    expect(await paused()).toEqual([]);
    await bounce(rows.slice(9, 15));
    const [one] = await paused();
    expect(one?.figures).toEqual({ bounced: 10, recipients: 50, limit: 10 });
    // The others that were on the wire, after the pause.
    expect(await paused()).toHaveLength(1);
  });

  test('five recipients who complain pause the sender; one that complains nine times does not', async () => {
    await meet(20);
    const ids = (await queue('due')).map((row) => row.id);
    for (let n = 0; n < 9; n++) await box.store.write(complain, { id: ids[0] ?? 0, digest: `one ${n}` });
    expect(await paused()).toEqual([]);
    for (const id of ids.slice(1, 4)) await box.store.write(complain, { id, digest: 'first' });
    expect(await paused()).toEqual([]);
    await box.store.write(complain, { id: ids[4] ?? 0, digest: 'first' });
    expect(await paused()).toMatchObject([{ figures: { complaints: 5, recipients: 20, limit: 5 } }]);
  });

  test('a refusal of the text, or of us, counts for nothing', async () => {
    await meet(50);
    const rows = (await queue('due')).map((row) => row.id);
    await bounce(rows.slice(0, 30), '5.7.1');
    expect(await paused()).toEqual([]);
  });

  test('mail of nobody who is watched is counted nowhere', async () => {
    const list = Array.from({ length: 120 }, (_, n) => `n${n}@elsewhere.test`);
    await box.store.write(
      submit,
      unlimitedSubmission(outgoing('Subject: x\r\n\r\n', list, { trace: 'free', account })),
    );
    await bounce((await queue('due')).slice(0, 60).map((row) => row.id));
    expect(await paused()).toEqual([]);
  });
});

describe('somebody who is away', () => {
  async function answer(to: string): Promise<VacationAnswerResult> {
    const id = await box.store.write(away, { account });
    const mail = outgoing('Subject: Away\r\n\r\n', [to], { trace: `away-${++sent}`, account, sender: '' });
    const budgets = [{ subject: `account/${account}`, explanation: '', watched: true }];
    return box.store.write(sendVacationAnswer, {
      id,
      account,
      key: to,
      mail: { ...unlimitedSubmission(mail), budgets },
    });
  }

  test('is not paused by a stranger who makes up whom to answer, and whose server says that they do not exist', async () => {
    for (let n = 0; n < 110; n++) expect((await answer(`made-up${n}@elsewhere.test`)).kind).toBe('sent');
    await bounce((await queue('due')).slice(0, 50).map((row) => row.id));
    expect(await paused()).toEqual([]);
  });

  test('answers nobody while paused', async () => {
    await meet(101);
    expect(await answer('friend@elsewhere.test')).toMatchObject({ kind: 'refused' });
  });
});

describe('resumed', () => {
  test('it sends again, what was held goes, and it does not flap', async () => {
    await meet(150);
    await begin((await queue('due')).map((row) => row.id));
    expect(await queue('held')).toHaveLength(100);
    const mine = { sender: `account/${account}`, tenant: 1 };
    expect(await box.store.write(resumeSender, mine)).toEqual({ kind: 'resumed', released: 150, more: false });
    expect(await paused()).toEqual([]);
    expect(await queue('held')).toEqual([]);
    expect((await waiting()).filter((item) => item.heldBecause !== null)).toEqual([]);
    const again = kinds(await meet(400));
    expect(again.get('waits')).toBeUndefined();
    expect((await send(['one-too-many@elsewhere.test'])).kind).toBe('waits');
    expect((await paused())[0]?.figures).toMatchObject({ newRecipients: 401, limit: 400 });
    // A day later the limits are what they were.
    await box.store.write(resumeSender, mine);
    box.clock.now += DAY + 1;
    expect(kinds(await meet(101)).get('waits')).toHaveLength(1);
  });

  test('much that was held goes in slices', async () => {
    await meet(101);
    for (let n = 0; n < 399; n++) await send([`m${n}@elsewhere.test`]);
    const mine = { sender: `account/${account}`, tenant: 1 };
    expect(await box.store.write(resumeSender, mine)).toEqual({ kind: 'resumed', released: 200, more: true });
    expect(await box.store.write(resumeSender, mine)).toEqual({ kind: 'resumed', released: 200, more: true });
    expect(await box.store.write(resumeSender, mine)).toEqual({ kind: 'none', released: 0, more: false });
  });

  test('what was counted is forgotten with its age, and a pause is not', async () => {
    await meet(101);
    box.clock.now += 16 * DAY;
    while (await box.store.write(purgeSenderUse, undefined));
    expect(await paused()).toHaveLength(1);
    await box.store.write(resumeSender, { sender: `account/${account}`, tenant: 1 });
    box.clock.now += DAY + 1;
    while (await box.store.write(purgeSenderUse, undefined));
    expect((await send(['friend@elsewhere.test'])).kind).toBe('taken');
  });
});
