import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rowIn } from '../../src/core/message-ids.ts';
import { recordAgentSend } from '../../mail/agents/gate/send-log.ts';
import { ClaimExpiry } from '../../mail/jobs/claim-expiry.ts';
import { claimsOf, type ConversationRef } from '../../mail/agents/claims/claim.ts';
import {
  type ClaimOutcome,
  claimConversation,
  endClaim,
  type EndOutcome,
  MAX_CLAIMS,
} from '../../mail/agents/claims/commands.ts';
import { threadOfEmail } from '../../mail/store/message/conversation.ts';
import { query } from '../../mail/store/engine/types.ts';
import { command } from '../../mail/store/engine/types.ts';
import { emailRows } from '../../mail/store/message/email-rows.ts';
import { mayAnswer } from '../../mail/agents/claims/may-answer.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { putMail } from '../support/put-mail.ts';
import { engines, testAccount, testStore, type TestStore } from '../support/store.ts';

const [A, B] = ['tok_1', 'tok_2'];
const MINUTE = 60_000;

let box: TestStore;
let account: number;

/** The test's clock moves on with each message, as mail does. */
const mail = async (over: { id: string; to?: string; folder?: string; bits?: number }, by: string | null = null) => {
  box.clock.now += MINUTE;
  const { id, to, folder = 'INBOX', bits = 0 } = over;
  const header = `Message-ID: <${id}@x.example>\n${to === undefined ? '' : `In-Reply-To: <${to}@x.example>\nReferences: <${to}@x.example>\n`}`;
  const text = `${header}Subject: ${to === undefined ? '' : 'Re: '}order\n\nhello\n`;
  const put = await putMail(box.store, { account, receivedAt: box.clock.now, folder, bits }, text);
  const email = rowIn('email', account, put) ?? 0;
  if (by !== null) await box.store.write(writtenBy, { email, by });
  return email;
};
const writtenBy = command('test-written-by', (tx, { email, by }: { email: number; by: string }) =>
  tx.run('UPDATE email SET created_by = ? WHERE id = ?', by, email),
);
/** An answer of which no copy was kept. */
const agentSent = command('test-agent-sent', async (tx, input: { account: number; email: number }, stamp) => {
  const { account, email } = input;
  const thread = (await threadOfEmail(tx, account, email)) ?? 0;
  const nothing = { reasons: [], readMail: [], fresh: 0, weight: 1, size: 1 };
  const who = { tenant: 0, account, reader: A, credential: A };
  await recordAgentSend(tx, { ...nothing, ...who, trace: 't', outcome: 'taken', thread }, stamp);
});
const claim = (named: ConversationRef, holder = A, forMs = 10 * MINUTE): Promise<ClaimOutcome> =>
  box.store.write(claimConversation, {
    account,
    named,
    holder,
    keyword: `$claimed-${holder}`,
    until: box.clock.now + forMs,
  });
const end = (named: ConversationRef, holder: string | null = A, done = false): Promise<EndOutcome> =>
  box.store.write(endClaim, { account, named, holder, done });
const labels = async (email: number): Promise<string[]> => {
  const found = await box.store.read(emailRows, { account, ids: [email], listing: false, structure: false });
  const [row] = found?.rows ?? [];
  const slots = [...(found?.slots ?? [])].filter(([slot]) => ((row?.flags ?? 0) & (1 << slot)) !== 0);
  return [...slots.map(([, name]) => name), ...(row?.keywords ?? [])].toSorted();
};
const answerable = query(
  'test-may-answer',
  (rx, input: { account: number; email: number; credential: string; draft?: number; now: number }) =>
    mayAnswer(rx, input),
);
const may = (email: number, credential = A, draft?: number) =>
  box.store.read(answerable, { account, email, credential, now: box.clock.now, ...(draft !== undefined && { draft }) });
const threadOf = async (email: number): Promise<number> => {
  const found = await box.store.read(emailRows, { account, ids: [email], listing: false, structure: false });
  return found?.rows[0]?.threadId ?? 0;
};

const open = async (): Promise<void> => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, writtenBy, agentSent] });
  ({ account } = await testAccount(box.store));
};
beforeEach(open);
afterEach(() => box[Symbol.asyncDispose]());

describe('one agent at a time', () => {
  test('who claims first has it, and people see it in their mail program', async () => {
    const email = await mail({ id: 'a' });
    const thread = await threadOf(email);
    const until = box.clock.now + 10 * MINUTE;
    expect(await claim({ email })).toEqual({ kind: 'yours', thread, email, until });
    expect(await labels(email)).toEqual(['$claimed', '$claimed-tok_1']);
    expect(await claim({ email }, B)).toEqual({ kind: 'claimed', holder: A, until });
    expect(await claim({ thread }, B)).toEqual({ kind: 'claimed', holder: A, until });
    expect(await box.store.read(claimsOf, { account, threads: [thread] })).toEqual([{ thread, holder: A, until }]);
    expect(await may(email)).toEqual({ kind: 'yours', until });
    expect(await may(email, B)).toEqual({ kind: 'claimed', holder: A, until });
  });

  test('its holder may keep it for longer', async () => {
    const email = await mail({ id: 'a' });
    await claim({ email });
    box.clock.now += 9 * MINUTE;
    await claim({ email });
    box.clock.now += 9 * MINUTE;
    expect(await claim({ email }, B)).toMatchObject({ kind: 'claimed' });
  });

  test('released it is free at once; done it is for nobody any more', async () => {
    const email = await mail({ id: 'a' });
    await claim({ email });
    expect(await end({ email }, B)).toMatchObject({ kind: 'claimed', holder: A });
    expect(await end({ email })).toMatchObject({ kind: 'ended', email });
    expect(await labels(email)).toEqual([]);
    expect(await end({ email })).toMatchObject({ kind: 'none' });
    expect(await claim({ email }, B)).toMatchObject({ kind: 'yours' });
    expect(await end({ email }, B, true)).toMatchObject({ kind: 'ended' });
    expect(await labels(email)).toEqual(['$done']);
    expect(await claim({ email })).toEqual({ kind: 'done' });
    // The answer to it is new work.
    const next = await mail({ id: 'b', to: 'a' });
    expect(await claim({ thread: await threadOf(email) })).toMatchObject({ kind: 'yours', email: next });
  });

  test('a person ends the claim of anybody', async () => {
    const email = await mail({ id: 'a' });
    await claim({ email });
    expect(await end({ email }, null)).toMatchObject({ kind: 'ended' });
  });

  test('an agent has a hundred at most, in one account', async () => {
    const emails: number[] = [];
    for (let i = 0; i <= MAX_CLAIMS; i++) emails.push(await mail({ id: `n${i}` }));
    for (const email of emails.slice(0, MAX_CLAIMS)) expect((await claim({ email }, A, 1e9)).kind).toBe('yours');
    const last = emails[MAX_CLAIMS] ?? 0;
    expect(await claim({ email: last })).toEqual({ kind: 'too-many' });
    expect(await claim({ email: last }, B)).toMatchObject({ kind: 'yours' });
  });

  test('what is not there, and what is another account', async () => {
    const email = await mail({ id: 'a' });
    const other = await testAccount(box.store, 'other');
    expect(await claim({ email: email + 1 })).toEqual({ kind: 'not-found' });
    expect(await claim({ thread: 5 })).toEqual({ kind: 'not-found' });
    ({ account } = other);
    expect(await claim({ email })).toEqual({ kind: 'not-found' });
    expect(await end({ email })).toEqual({ kind: 'not-found' });
  });
});

describe('a person goes first', () => {
  test('who has begun an answer', async () => {
    const email = await mail({ id: 'a' });
    await mail({ id: 'd', to: 'a', folder: 'Drafts', bits: 8 });
    expect(await claim({ email })).toEqual({ kind: 'drafted' });
  });

  test('who has answered: then the next message is for agents again', async () => {
    const email = await mail({ id: 'a' });
    await mail({ id: 's', to: 'a', folder: 'Sent' });
    expect(await claim({ email })).toEqual({ kind: 'answered' });
    expect(await claim({ thread: await threadOf(email) })).toEqual({ kind: 'answered' });
    const next = await mail({ id: 'b', to: 'a' });
    expect(await claim({ email })).toEqual({ kind: 'answered' });
    expect(await claim({ email: next })).toMatchObject({ kind: 'yours' });
  });

  test('whose mail program kept no copy, and marked the message as answered', async () => {
    expect(await claim({ email: await mail({ id: 'a', bits: 2 }) })).toEqual({ kind: 'answered' });
  });

  test('agents do not stand in the way of each other so', async () => {
    const email = await mail({ id: 'a', bits: 2 });
    await mail({ id: 'd', to: 'a', folder: 'Drafts', bits: 8 }, B);
    await mail({ id: 's', to: 'a', folder: 'Sent' }, B);
    expect(await claim({ email })).toMatchObject({ kind: 'yours' });
  });

  test('who comes while an agent is at work: it may neither send nor stay', async () => {
    const email = await mail({ id: 'a' });
    await claim({ email }, A, 60 * MINUTE);
    await mail({ id: 'own', to: 'a', folder: 'Drafts', bits: 8 }, A);
    expect(await may(email)).toMatchObject({ kind: 'yours' });
    await mail({ id: 'd', to: 'a', folder: 'Drafts', bits: 8 });
    expect(await may(email)).toEqual({ kind: 'drafted' });
    await mail({ id: 's', to: 'a', folder: 'Sent' });
    expect(await may(email)).toEqual({ kind: 'answered' });
    expect(await claim({ email })).toEqual({ kind: 'answered' });
    // The work can still be marked as done.
    expect(await end({ email }, A, true)).toMatchObject({ kind: 'ended' });
  });

  test('a draft that was thrown away is none', async () => {
    const email = await mail({ id: 'a' });
    await mail({ id: 'd', to: 'a', folder: 'Trash', bits: 8 });
    expect(await claim({ email })).toMatchObject({ kind: 'yours' });
  });
});

describe('an answer without a claim gives way to a person as well', () => {
  const draft = (id: string, to: string, by: string | null = null) => mail({ id, to, folder: 'Drafts', bits: 8 }, by);
  const sent = (id: string, to: string, by: string | null = null) => mail({ id, to, folder: 'Sent' }, by);

  test('who has begun an answer, until it is thrown away or is a month old', async () => {
    const email = await mail({ id: 'a' });
    expect(await may(email)).toEqual({ kind: 'free' });
    await draft('d', 'a');
    expect(await may(email)).toEqual({ kind: 'drafted' });
    box.clock.now += 31 * 24 * 60 * MINUTE;
    expect(await may(email)).toEqual({ kind: 'free' });
    expect(await claim({ email })).toMatchObject({ kind: 'yours' });
  });

  test('who has answered, also while a claim was lapsing; what comes after that is for agents', async () => {
    const email = await mail({ id: 'a' });
    await claim({ email });
    box.clock.now += 4 * MINUTE;
    const theirs = await sent('s', 'a');
    box.clock.now += 7 * MINUTE;
    expect(await may(email)).toEqual({ kind: 'answered' });
    // Somebody who answers the answer has read it.
    expect(await may(theirs)).toEqual({ kind: 'free' });
    const next = await mail({ id: 'b', to: 'a' });
    expect(await may(next)).toEqual({ kind: 'free' });
    expect(await may(email)).toEqual({ kind: 'answered' });
  });

  test('what is done stays so', async () => {
    const email = await mail({ id: 'a' });
    await claim({ email });
    await end({ email }, A, true);
    expect(await may(email)).toEqual({ kind: 'done' });
    expect(await may(email, B)).toEqual({ kind: 'done' });
    expect(await may(await mail({ id: 'b', to: 'a' }), B)).toEqual({ kind: 'free' });
  });

  test('agents are in nobody’s way: a second answer goes, kept in Sent or not', async () => {
    const email = await mail({ id: 'a', bits: 2 });
    expect(await may(email)).toEqual({ kind: 'answered' });
    await box.store.write(agentSent, { account, email });
    expect(await may(email)).toEqual({ kind: 'free' });
    await draft('d', 'a', B);
    await sent('s', 'a', A);
    expect(await may(email)).toEqual({ kind: 'free' });
    expect(await may(email, B)).toEqual({ kind: 'free' });
  });

  test('nor after a claim that came later than the answer', async () => {
    const [noted, copied] = [await mail({ id: 'a', bits: 2 }), await mail({ id: 'b', bits: 2 })];
    await box.store.write(agentSent, { account, email: noted });
    await sent('s', 'b', A);
    for (const email of [noted, copied]) {
      box.clock.now += 60 * MINUTE;
      await claim({ email });
      expect(await may(email)).toMatchObject({ kind: 'yours' });
    }
  });

  test('the draft that is sent is no other answer', async () => {
    const email = await mail({ id: 'a' });
    const theirs = await draft('d', 'a');
    expect(await may(email, A, theirs)).toEqual({ kind: 'free' });
    await draft('d2', 'a');
    expect(await may(email, A, theirs)).toEqual({ kind: 'drafted' });
  });

  test('who writes to the own mailbox has a copy in Sent, and has not answered', async () => {
    const email = await mail({ id: 'a' });
    await mail({ id: 'a', folder: 'Sent' });
    expect(await may(email)).toEqual({ kind: 'free' });
    expect(await claim({ email })).toMatchObject({ kind: 'yours' });
  });

  test('where the message that is answered is shown no more, too', async () => {
    const email = await mail({ id: 'a', folder: 'Trash' });
    await sent('s', 'a');
    expect(await may(email)).toEqual({ kind: 'answered' });
  });
});

describe('its time is over', () => {
  test('then anybody may have it, and its holder has lost it', async () => {
    const email = await mail({ id: 'a' });
    await claim({ email });
    box.clock.now += 10 * MINUTE;
    expect(await may(email)).toEqual({ kind: 'free' });
    expect(await end({ email })).toMatchObject({ kind: 'none' });
    expect(await claim({ email }, B)).toMatchObject({ kind: 'yours' });
    expect(await labels(email)).toEqual(['$claimed', '$claimed-tok_2']);
  });

  test('also when nothing ran meanwhile: the next start frees it', async () => {
    const [first, later] = [await mail({ id: 'a' }), await mail({ id: 'b' })];
    for (let i = 0; i < 40; i++) await claim({ email: await mail({ id: `n${i}` }) });
    await claim({ email: first });
    await claim({ email: later }, A, 60 * MINUTE);
    const until = box.clock.now + 60 * MINUTE;
    await box.reopen();
    box.clock.now += 20 * MINUTE;
    const job = new ClaimExpiry(box.store, () => box.clock.now);
    expect(await job.run()).toBe(until);
    expect(await labels(first)).toEqual([]);
    expect(await labels(later)).toEqual(['$claimed', '$claimed-tok_1']);
  });
});

test('two that ask in the same moment: one has it', async () => {
  await box[Symbol.asyncDispose]();
  box = await testStore(Object.keys(engines)[0] as 'writer thread');
  ({ account } = await testAccount(box.store));
  for (let i = 0; i < 20; i++) {
    const email = await mail({ id: `r${i}` });
    const outcomes = await Promise.all(['tok_1', 'tok_2', 'tok_3', 'tok_4'].map((who) => claim({ email }, who)));
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['claimed', 'claimed', 'claimed', 'yours']);
  }
});
