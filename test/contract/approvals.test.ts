import { createHash } from 'node:crypto';
import '../support/gate-that-holds-all.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type OutboxItem, listOutbox } from '../../mail/delivery/outbox-items.ts';
import { sendScheduled, unschedule } from '../../mail/delivery/scheduled-messages.ts';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { ScheduledMail } from '../../mail/jobs/scheduled-mail.ts';
import { quiet } from '../../mail/log.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { expireApprovals, purgeApprovals } from '../../mail/agents/approval/approval.ts';
import { changeEmails, destroyEmails } from '../../mail/store/message/email-change-commands.ts';
import { storeEmail } from '../../mail/store/message/email-commands.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { journalOf, OPERATOR_VIEW } from '../../mail/store/journal/journal.ts';
import { listMailboxes } from '../../mail/store/mailbox/mailbox.ts';
import { changeMailbox, destroyMailbox } from '../../mail/store/mailbox/mailbox-tree.ts';
import { queueOfTrace } from '../../mail/store/queue/queue-rows.ts';
import { holdMail, REASONS } from '../support/held-mail.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';
import type { Submission } from '../../mail/delivery/submission.ts';
import { finishAppend } from '../support/finish-append.ts';

const HOUR = 3_600_000;
const DELETED = { bits: 16, keywords: [] };

const tamper = command('test-tamper', (tx, { sql }: { sql: string }) => tx.run(sql));
const takeBack = command('test-take-back', (tx, { trace, by }: { trace: string; by: string }, stamp) =>
  unschedule(tx, trace, stamp, by),
);
const passwordOf = query('test-password', async (rx, { account }: { account: number }) => {
  const row = await rx.get<{ id: number }>('SELECT id FROM credential WHERE account_id = ?', account);
  return row?.id ?? 0;
});

const writers = query('test-writers', (rx, { mailbox: of }: { mailbox: number }) =>
  rx.all('SELECT e.created_by AS "by" FROM email e JOIN entry n ON n.email_id = e.id WHERE n.mailbox_id = ?', of),
);

let box: TestStore;
let scheduler: ScheduledMail;
let account: number;
let person: StoreBackend;
let agent: StoreBackend;
let by: { credential: number };

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, tamper, takeBack] });
  ({ account } = await testAccount(box.store));
  by = { credential: await box.store.read(passwordOf, { account }) };
  const clock = (): number => box.clock.now;
  person = new StoreBackend(box.store, account, clock, { actor: by });
  agent = new StoreBackend(box.store, account, clock);
  scheduler = new ScheduledMail({
    store: box.store,
    hostname: 'mail.box.test',
    clock,
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

/** A message of an agent that needs approval. */
const ask = (over: Partial<Submission> = {}) => holdMail(box.store, { account, signAs: ['box.test'], ...over });

const items = (): Promise<OutboxItem[]> =>
  box.store.read(listOutbox, { tenant: 1, accounts: null, state: null, before: null, limit: 50, now: box.clock.now });

async function item(id: number): Promise<OutboxItem | undefined> {
  return (await items()).find((one) => one.id === id);
}

async function mailbox(name: string): Promise<number> {
  const found = await person.mailbox(name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found.id;
}

async function uidsIn(name: string): Promise<number[]> {
  const view = await person.open(await mailbox(name));
  const uids = Array.from(view.uids.subarray(0, view.length));
  view.close();
  return uids;
}

/** Everything that the store would send now. */
async function leaves(trace: string): Promise<string[]> {
  await scheduler.run();
  return (await box.store.read(queueOfTrace, { ...OPERATOR_VIEW, trace })).map((row) => row.recipient);
}

const moved = (kind: StoreBackend, uids: number[], from: string, to: string, move = true) =>
  mailbox(from).then((id) => kind.copy(id, uids, to, move));

test('a held message lies in the mailbox, with its reason and a keyword, and does not leave', async () => {
  const { id, trace } = await ask();
  expect(await item(id)).toMatchObject({
    state: 'pending',
    recipients: ['x@elsewhere.test'],
    heldBecause: REASONS[0]?.text,
    approval: {
      subject: 'Offer',
      credential: 'tok_7',
      reasons: REASONS,
      decidedBy: null,
      expiresAt: box.clock.now + 24 * HOUR,
    },
  });
  const all = await box.store.read(listMailboxes, { account });
  expect(
    all.filter(({ name }) => name.startsWith('A')).map(({ name, subscribed, total }) => [name, subscribed, total]),
  ).toEqual(
    expect.arrayContaining([
      ['Awaiting approval', true, 1],
      ['Approved', true, 0],
    ]),
  );
  const view = await person.open(await mailbox('Awaiting approval'));
  expect(view.keywords).toContain('$AwaitingApproval');
  const [row] = await person.rows(await mailbox('Awaiting approval'), [1], { structure: false });
  expect(row?.content.trace).toBe('X-Awaits-Approval: x@elsewhere.test was never written to\r\n');
  view.close();
  expect(await leaves(trace)).toEqual([]);
});

test('a person moves it to Approved: it is sent once, and lies in Sent', async () => {
  const { id, trace } = await ask();
  expect(await moved(person, [1], 'Awaiting approval', 'Approved')).toMatchObject({ kind: 'done' });
  expect(await item(id)).toMatchObject({ state: 'approved', approval: { decidedBy: 'me@box.test' } });
  expect(await leaves(trace)).toEqual(['x@elsewhere.test']);
  expect(await uidsIn('Approved')).toEqual([]);
  expect(await uidsIn('Sent')).toHaveLength(1);
  // A person let it go; written it has the agent, so it is in no agent's way.
  expect(await box.store.read(writers, { mailbox: await mailbox('Sent') })).toEqual([{ by: 'tok_7' }]);
  const view = await person.open(await mailbox('Sent'));
  expect(view.bits(view.uids[0] ?? 0) & 1).toBe(1);
  view.close();
  expect(await leaves(trace)).toHaveLength(1);
  expect(await item(id)).toMatchObject({ state: 'approved', dueAt: null });
});

test('COPY, \\Deleted and EXPUNGE do the same', async () => {
  const { id, trace } = await ask();
  expect(await moved(person, [1], 'Awaiting approval', 'Approved', false)).toMatchObject({ kind: 'done' });
  const waiting = await mailbox('Awaiting approval');
  await person.store(waiting, [1], 'add', DELETED);
  await person.expunge(waiting, [1]);
  expect(await item(id)).toMatchObject({ state: 'approved' });
  expect(await leaves(trace)).toEqual(['x@elsewhere.test']);
});

test('deleting it refuses it, whether it is expunged or thrown away', async () => {
  const [one, two] = [await ask(), await ask()];
  const waiting = await mailbox('Awaiting approval');
  await person.store(waiting, [1], 'add', DELETED);
  expect(await person.expunge(waiting, [1])).toMatchObject({ uids: [1] });
  await moved(person, [2], 'Awaiting approval', 'Trash');
  for (const { id, trace } of [one, two]) {
    expect(await item(id)).toMatchObject({ state: 'denied', approval: { decidedBy: 'me@box.test' } });
    expect(await leaves(trace)).toEqual([]);
    const story = await box.store.read(journalOf, { ...OPERATOR_VIEW, trace });
    expect(story.at(-1)).toMatchObject({ event: 'cancelled', detail: { because: 'denied by a person' } });
  }
});

test('moved elsewhere it goes on waiting, and can be approved from there', async () => {
  const { id, trace } = await ask();
  await moved(person, [1], 'Awaiting approval', 'Archive');
  expect(await item(id)).toMatchObject({ state: 'pending' });
  await moved(person, await uidsIn('Archive'), 'Archive', 'Approved');
  expect(await leaves(trace)).toEqual(['x@elsewhere.test']);
});

test('a session without a person’s password decides nothing, whichever way it tries', async () => {
  const { id, trace } = await ask();
  const [waiting, approved] = [await mailbox('Awaiting approval'), await mailbox('Approved')];
  for (const [to, move] of [
    ['Approved', true],
    ['Approved', false],
    ['Trash', true],
    ['Archive', true],
  ] as const) {
    expect(await moved(agent, [1], 'Awaiting approval', to, move)).toMatchObject({ kind: 'forbidden' });
  }
  await agent.store(waiting, [1], 'add', DELETED);
  expect(await agent.expunge(waiting, [1])).toMatchObject({
    uids: [],
    kept: expect.stringContaining('a person decides'),
  });
  await agent.store(waiting, [1], 'remove', DELETED);
  const [email] = await emails();
  const change = (add: number[], remove: number[]) =>
    box.store.write(changeEmails, {
      account,
      ifState: null,
      changes: [{ email: email ?? 0, keywords: null, mailboxes: { kind: 'patch', add, remove } }],
    });
  for (const [add, remove] of [
    [[approved], [waiting]],
    [[approved], []],
    [[await mailbox('Archive')], [waiting]],
  ] as const) {
    expect(await change([...add], [...remove])).toMatchObject({ outcomes: [{ kind: 'forbidden' }] });
  }
  expect(await box.store.write(destroyEmails, { account, emails: [email ?? 0], ifState: null })).toMatchObject({
    destroyed: [],
    kept: [{ email }],
  });
  expect(await item(id)).toMatchObject({ state: 'pending' });
  expect(await leaves(trace)).toEqual([]);
  const foreign = new StoreBackend(box.store, account, () => box.clock.now, {
    actor: { credential: by.credential + 100 },
  });
  expect(await moved(foreign, [1], 'Awaiting approval', 'Approved')).toMatchObject({ kind: 'forbidden' });
});

test('where the mailbox is under a policy for agents, only a password that was made for a person decides', async () => {
  const { id, trace } = await ask();
  await box.store.write(tamper, {
    sql: `INSERT INTO agent_policy_account (account_id, policy_id) VALUES (${account}, 1)`,
  });
  expect(await moved(person, [1], 'Awaiting approval', 'Approved')).toMatchObject({ kind: 'forbidden' });
  expect(await moved(person, [1], 'Awaiting approval', 'Trash')).toMatchObject({ kind: 'forbidden' });
  expect(await item(id)).toMatchObject({ state: 'pending' });
  await box.store.write(tamper, { sql: `UPDATE credential SET kind = 'app', scopes = 'imap jmap person'` });
  expect(await moved(person, [1], 'Awaiting approval', 'Approved')).toMatchObject({ kind: 'done' });
  expect(await leaves(trace)).toEqual(['x@elsewhere.test']);
});

test('a person decides over JMAP as well', async () => {
  const { id, trace } = await ask();
  const [waiting, approved] = [await mailbox('Awaiting approval'), await mailbox('Approved')];
  const [email = 0] = await emails();
  const changes = [
    { email, keywords: null, mailboxes: { kind: 'patch' as const, add: [approved], remove: [waiting] } },
  ];
  expect(await box.store.write(changeEmails, { account, actor: by, ifState: null, changes })).toMatchObject({
    outcomes: [{ kind: 'changed' }],
  });
  expect(await leaves(trace)).toEqual(['x@elsewhere.test']);
  const second = await ask();
  const [, next = 0] = await emails();
  await box.store.write(destroyEmails, { account, actor: by, emails: [next], ifState: null });
  expect(await item(second.id)).toMatchObject({ state: 'denied' });
  expect(await item(id)).toMatchObject({ state: 'approved' });
});

test('one message among hundreds that an agent may not move keeps all of them where they are', async () => {
  const sink = agent.append(0);
  if ('kind' in sink) throw new Error(sink.kind);
  await sink.write(Buffer.from('Subject: x\r\n\r\n'));
  await finishAppend(agent, sink, { mailbox: 'INBOX', flags: { bits: 0, keywords: [] }, receivedAt: 1 });
  for (let n = 1; n < 256; n *= 2) await moved(agent, await uidsIn('INBOX'), 'INBOX', 'INBOX', false);
  await ask();
  await moved(person, [1], 'Awaiting approval', 'INBOX', false);
  const all = await uidsIn('INBOX');
  expect(all).toHaveLength(257);
  expect(await moved(agent, all, 'INBOX', 'Archive')).toMatchObject({ kind: 'forbidden' });
  expect([await uidsIn('INBOX'), await uidsIn('Archive')]).toEqual([all, []]);
  expect(await agent.rename('INBOX', 'Elsewhere')).toMatchObject({ kind: 'forbidden' });
  expect(await uidsIn('INBOX')).toEqual(all);
  expect(await agent.mailbox('Elsewhere')).toBeUndefined();
  expect(await moved(person, all, 'INBOX', 'Archive')).toMatchObject({ kind: 'done', from: all });
});

test('nothing else can be put into Approved, nor into Awaiting approval, by anybody', async () => {
  await ask();
  const data = Buffer.from('From: a@b.test\r\n\r\nforged\r\n');
  for (const name of ['Approved', 'Awaiting approval']) {
    const sink = person.append(data.length);
    if ('kind' in sink) throw new Error(sink.kind);
    await sink.write(data);
    const into = { mailbox: name, flags: { bits: 0, keywords: [] }, receivedAt: undefined };
    expect(await finishAppend(person, sink, into)).toMatchObject({ kind: 'forbidden' });
    const written = { data: Uint8Array.from(data), file: null, index: indexMessage(data) };
    const where = {
      account,
      mailboxes: [await mailbox(name)],
      flags: { bits: 0, keywords: [] },
      receivedAt: 1,
      ifState: null,
    };
    expect(await box.store.write(storeEmail, { ...where, ...written })).toMatchObject({ kind: 'forbidden' });
  }
  const sink = person.append(data.length);
  if ('kind' in sink) throw new Error(sink.kind);
  await sink.write(data);
  await finishAppend(person, sink, { mailbox: 'INBOX', flags: { bits: 0, keywords: [] }, receivedAt: undefined });
  expect(await moved(person, [1], 'INBOX', 'Approved')).toMatchObject({ kind: 'forbidden' });
  expect(await uidsIn('INBOX')).toEqual([1]);
});

test('the two mailboxes keep their names, and stay as long as something lies in them', async () => {
  const { id, trace } = await ask();
  const [waiting, approved] = [await mailbox('Awaiting approval'), await mailbox('Approved')];
  expect(await person.rename('Approved', 'Refused')).toBe('is-for-approval');
  expect(await person.remove('Awaiting approval')).toBe('is-for-approval');
  const facts = { parent: 0, name: 'Refused', role: null, sortOrder: 0, subscribed: true };
  expect(await box.store.write(changeMailbox, { account, id: approved, facts, ifState: null })).toMatchObject({
    outcome: { kind: 'is-for-approval' },
  });
  const gone = { account, id: waiting, removeEmails: true, ifState: null };
  expect(await box.store.write(destroyMailbox, gone)).toMatchObject({ outcome: 'is-for-approval' });
  await box.store.write(takeBack, { trace, by: 'me' });
  expect(await item(id)).toMatchObject({ state: 'withdrawn', approval: { decidedBy: 'me' } });
  expect(await person.remove('Awaiting approval')).toBe('removed');
  await ask();
  expect(await uidsIn('Awaiting approval')).toHaveLength(1);
});

test('whatever changes afterwards makes it void', async () => {
  for (const sql of [
    `UPDATE scheduled SET recipients = '["thief@evil.test"]'`,
    `UPDATE submission SET sender = 'other@box.test'`,
    `UPDATE blob SET data = x'41' WHERE data IS NOT NULL`,
    `UPDATE submission SET blob_id = (SELECT max(id) FROM blob)`,
  ]) {
    const { id, trace } = await ask();
    await ask();
    const [uid = 0] = (await uidsIn('Awaiting approval')).slice(-2);
    await box.store.write(tamper, { sql });
    expect(await moved(person, [uid], 'Awaiting approval', 'Approved'), sql).toMatchObject({ kind: 'forbidden' });
    expect(await leaves(trace)).toEqual([]);
    expect(await item(id)).toMatchObject({ state: 'pending' });
    await box.store.write(tamper, { sql: 'DELETE FROM scheduled' });
  }
});

test('what changes between the approval and the sending is not sent, also of a large message', async () => {
  const { id, trace } = await ask();
  await moved(person, [1], 'Awaiting approval', 'Approved');
  await box.store.write(tamper, { sql: `UPDATE scheduled SET recipients = '["thief@evil.test"]'` });
  expect(await leaves(trace)).toEqual([]);
  expect(await item(id)).toMatchObject({ state: 'expired' });
  const large = await ask();
  const uids = await uidsIn('Awaiting approval');
  await moved(person, uids, 'Awaiting approval', 'Approved');
  const index = indexMessage(Buffer.from('From: me@box.test\r\n\r\n'));
  const to = { recipient: 'x@elsewhere.test', domain: 'elsewhere.test', notify: '', orcpt: '' };
  const where = { here: [], local: [], elsewhere: [to], onward: [], unreachable: [], suppressed: [], hold: null };
  const sha256 = createHash('sha256').update('something else').digest('hex');
  expect(await box.store.write(sendScheduled, { id: large.id, index, sha256, ...where })).toEqual({ queued: false });
  expect(await leaves(large.trace)).toEqual([]);
});

test('what else releases a message does not let go what a person has to', async () => {
  const { id, trace } = await ask();
  await box.store.write(tamper, { sql: 'UPDATE scheduled SET hold_reason = NULL' });
  expect(await leaves(trace)).toEqual([]);
  expect(await item(id)).toMatchObject({ state: 'pending', heldBecause: 'awaiting approval' });
});

test('after 24 hours it is over: nobody can let it go, and it lies in the trash', async () => {
  const { id, trace } = await ask();
  box.clock.now += 24 * HOUR;
  expect(await item(id)).toMatchObject({ state: 'expired' });
  expect(await moved(person, [1], 'Awaiting approval', 'Approved')).toMatchObject({
    kind: 'forbidden',
    why: expect.stringContaining('24 hours'),
  });
  expect(await box.store.write(expireApprovals, undefined)).toBe(false);
  expect(await item(id)).toMatchObject({ state: 'expired', approval: { decidedBy: null } });
  expect(await uidsIn('Awaiting approval')).toEqual([]);
  expect(await uidsIn('Trash')).toHaveLength(1);
  expect(await moved(person, await uidsIn('Trash'), 'Trash', 'Approved')).toMatchObject({ kind: 'forbidden' });
  expect(await leaves(trace)).toEqual([]);
  box.clock.now += 30 * 24 * HOUR + 1;
  await box.store.write(purgeApprovals, undefined);
  expect(await items()).toEqual([]);
});

test('approved for later it waits for its time, and can still be withdrawn', async () => {
  const sendAt = box.clock.now + HOUR;
  const { id, trace } = await ask({ sendAt });
  await moved(person, [1], 'Awaiting approval', 'Approved');
  expect(await leaves(trace)).toEqual([]);
  box.clock.now = sendAt;
  expect(await leaves(trace)).toEqual(['x@elsewhere.test']);
  const other = await ask({ sendAt: sendAt + HOUR });
  await box.store.write(takeBack, { trace: other.trace, by: 'tok_7' });
  expect(await item(other.id)).toMatchObject({ state: 'withdrawn' });
  expect(await item(id)).toMatchObject({ state: 'approved' });
});

test('where the mailbox is full it waits all the same', async () => {
  await box.store.write(tamper, { sql: 'UPDATE account SET quota_bytes = 1' });
  const { id } = await ask();
  expect(await item(id)).toMatchObject({ state: 'pending', approval: { email: null } });
});

test('so many can wait, and no more', async () => {
  for (let i = 0; i < 100; i++) await ask();
  await expect(ask()).rejects.toThrow('agent-stop');
}, 180_000);

async function emails(): Promise<number[]> {
  const rows = await box.store.read(
    query('test-emails', (rx) => rx.all<{ id: number }>('SELECT id FROM email ORDER BY id')),
    undefined,
  );
  return rows.map((row) => row.id);
}
