import { afterEach, beforeEach, expect, test } from 'vitest';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { TrainingJob } from '../../mail/jobs/training.ts';
import { quiet } from '../../mail/log.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { evaluateReputation } from '../../mail/policy/reputation.ts';
import { changeEmails } from '../../mail/store/message/email-change-commands.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { ANSWERED } from '../../mail/store/mailbox/flags.ts';
import { nextTrainingSamples } from '../../mail/store/filter/training-sample.ts';
import { sampleWords } from '../../mail/store/filter/sample-words.ts';
import { reputationOf } from '../../mail/store/filter/sender.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';
import { finishAppend } from '../support/finish-append.ts';

const HOUR_MS = 3_600_000;
const KEYS = ['a:ann@remote.example', 'd:remote.example'];

const passwordOf = query('test-password', async (rx, { account }: { account: number }) => {
  const row = await rx.get<{ id: number }>('SELECT id FROM credential WHERE account_id = ?', account);
  return row?.id ?? 0;
});
/** Every message came from there. */
const filterAll = command('test-judge', async (tx, { senders }: { senders: readonly string[] }) => {
  await tx.run(
    `INSERT INTO filter_result (email_id, trust, verdict, senders) SELECT id, '{}', '{}', ? FROM email`,
    JSON.stringify(senders),
  );
});
const markAgents = command('test-mark', async (tx, { account }: { account: number }) => {
  await tx.run(`UPDATE credential SET scopes = scopes || ' agent' WHERE account_id = ?`, account);
});

let box: TestStore;
let account: number;
let actor: { credential: number };
let person: StoreBackend;
let program: StoreBackend;

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, filterAll, markAgents] });
  ({ account } = await testAccount(box.store));
  actor = { credential: await box.store.read(passwordOf, { account }) };
  person = new StoreBackend(box.store, account, () => box.clock.now, { actor });
  program = new StoreBackend(box.store, account, () => box.clock.now);
});
afterEach(() => box[Symbol.asyncDispose]());

/** A message in a mailbox; answers the row of that and the UID. */
async function put(name = 'INBOX', bits = 0): Promise<{ mailbox: number; uid: number }> {
  const sink = person.append(100);
  if ('kind' in sink) throw new Error(sink.kind);
  await sink.write(Buffer.from('From: ann@remote.example\r\nSubject: Hello\r\n\r\nlunch on monday\r\n'));
  const done = await finishAppend(person, sink, {
    mailbox: name,
    flags: { bits, keywords: [] },
    receivedAt: box.clock.now,
  });
  if (done.kind !== 'appended') throw new Error(done.kind);
  return { mailbox: (await person.mailbox(name))?.id ?? 0, uid: done.uid };
}

async function answer(by: StoreBackend, { mailbox, uid }: { mailbox: number; uid: number }): Promise<void> {
  await by.store(mailbox, [uid], 'add', { bits: ANSWERED, keywords: [] });
}

async function trainings(): Promise<{ email: number; says: string }[]> {
  const next = await box.store.read(nextTrainingSamples, { after: 0, limit: 100 });
  return (next?.samples ?? []).map(({ email, category: says }) => ({ email, says }));
}

async function learnAll(): Promise<void> {
  const trainer = new TrainingJob({ store: box.store, log: quiet, wordsOf: sampleWords });
  await trainer.run();
}

async function known(): Promise<ReturnType<typeof evaluateReputation>> {
  const now = box.clock.now + 13 * HOUR_MS;
  const author = 'ann@remote.example';
  return evaluateReputation(
    await box.store.read(reputationOf, { account, keys: KEYS, author, now }),
    { author, authenticated: true },
    now,
  );
}

test('whom a person answers is known from then on', async () => {
  const letter = await put();
  await box.store.write(filterAll, { senders: KEYS });
  expect(await known()).toEqual({ findings: [], known: false });
  await answer(person, letter);
  expect(await trainings()).toMatchObject([{ says: 'kept' }]);
  await learnAll();
  const { findings, known: isKnown } = await known();
  expect(isKnown).toBe(true);
  expect(findings).toMatchObject([{ rule: 'known-sender', score: -3 }]);
});

test('what JMAP marks as answered on a person’s word says the same, and what a token marks says nothing', async () => {
  await put();
  const email = account * 2 ** 32 + 1;
  const add = { bits: ANSWERED, keywords: [] };
  const keywords = { kind: 'patch', add, remove: { bits: 0, keywords: [] } } as const;
  const input = { account, changes: [{ email, keywords, mailboxes: null }], ifState: null };
  await box.store.write(changeEmails, { ...input, by: 'agent-1' });
  expect(await trainings()).toEqual([]);
  const undone = { kind: 'patch', add: { bits: 0, keywords: [] }, remove: add } as const;
  await box.store.write(changeEmails, { ...input, changes: [{ email, keywords: undone, mailboxes: null }], actor });
  expect(await trainings()).toEqual([]);
  await box.store.write(changeEmails, { ...input, actor });
  expect(await trainings()).toEqual([{ email, says: 'kept' }]);
});

test('a program, and a password that an agent was shown, say nothing', async () => {
  await answer(program, await put());
  await box.store.write(markAgents, { account });
  await answer(person, await put());
  expect(await trainings()).toEqual([]);
});

test('nor does an answer to junk, or one that was there before', async () => {
  for (const name of ['Junk', 'Trash', 'Sent']) await answer(person, await put(name));
  const letter = await put('INBOX', ANSWERED);
  await answer(person, letter);
  expect(await trainings()).toEqual([]);
});

test('who was answered and then called junk is junk', async () => {
  const letter = await put();
  await box.store.write(filterAll, { senders: KEYS });
  await answer(person, letter);
  await learnAll();
  await person.copy(letter.mailbox, [letter.uid], 'Junk', true);
  await learnAll();
  expect((await known()).findings).toMatchObject([{ rule: 'bad-past' }]);
});
