import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AgentSending, DEFAULT_POLICY, type NarrowLimits } from '../../mail/agents/gate/types.ts';
import { submit, type SubmissionResult } from '../../mail/delivery/submission-commit.ts';
import { rowIn } from '../../src/core/message-ids.ts';
import { claimConversation, endClaim } from '../../mail/agents/claims/commands.ts';
import { threadOf } from '../../mail/store/message/conversation.ts';
import { putMail } from '../support/put-mail.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const ME = 'tok_1';
const MINUTE = 60_000;

let box: TestStore;
let account: number;
let email: number;
let thread: number;

const put = async (text: string, folder = 'INBOX'): Promise<number> => {
  box.clock.now += MINUTE;
  const id = await putMail(box.store, { account, receivedAt: box.clock.now, folder }, text);
  return rowIn('email', account, id) ?? 0;
};
const QUESTION = 'Message-ID: <q@x.example>\nFrom: ann@x.example\nSubject: q\n\nhow?\n';
const ANSWER = 'Message-ID: <a@box.test>\nIn-Reply-To: <q@x.example>\nSubject: Re: q\n\nso\n';

beforeEach(async () => {
  box = await testStore();
  ({ account } = await testAccount(box.store));
  email = await put(QUESTION);
  thread = (await box.store.read(threadOf, { account, email })) ?? 0;
});
afterEach(() => box[Symbol.asyncDispose]());

const NO_LIMITS: NarrowLimits = { thread: null, recipients: null, sends: [], from: [] };
let n = 0;
const send = (
  to: string[],
  over: Partial<AgentSending> = {},
  sendAt: number | null = null,
): Promise<SubmissionResult> => {
  const agent: AgentSending = {
    credential: ME,
    mode: 'normal',
    policy: DEFAULT_POLICY,
    governed: false,
    answers: email,
    forwards: false,
    secrets: [],
    attended: true,
    limits: null,
    ...over,
  };
  const mail = outgoing('Subject: s\r\n\r\nx\r\n', to, { trace: `t${++n}`, account });
  return box.store.write(submit, { ...unlimitedSubmission(mail), verdict: { kind: 'agent', agent }, sendAt });
};
const stopped = (error: string, code: string) => ({ kind: 'agent-stop', error, reasons: [{ code }] });
const claim = (holder: string) =>
  box.store.write(claimConversation, {
    account,
    named: { thread },
    holder,
    keyword: '$claimed-x',
    until: box.clock.now + 60 * MINUTE,
  });

describe('a narrowed token', () => {
  test('answers its conversation and sends nothing else', async () => {
    const limits = { ...NO_LIMITS, thread };
    expect(await send(['ann@x.example'], { limits })).toMatchObject({ kind: 'taken' });
    const other = await put('Message-ID: <o@x.example>\nSubject: other\n\nx\n');
    for (const answers of [null, other, 5]) {
      const said = await send(['ann@x.example'], { limits, answers });
      expect(said).toMatchObject(stopped('action_not_allowed', 'other_thread'));
    }
  });

  test('writes to who took part, however the address is written', async () => {
    const limits = { ...NO_LIMITS, recipients: ['ann@x.example'] };
    expect(await send(['ANN@X.example'], { limits })).toMatchObject({ kind: 'taken' });
    const said = await send(['ann@x.example', 'eve@evil.example'], { limits });
    expect(said).toMatchObject(stopped('recipient_blocked', 'not_in_thread'));
    expect(said).toMatchObject({ reasons: [{ recipients: ['eve@evil.example'] }] });
  });

  test('what waits for its time counts as well; what was stopped does not', async () => {
    const limits = { ...NO_LIMITS, recipients: ['ann@x.example'], sends: [{ of: '1/a', most: 2 }] };
    expect(await send(['eve@evil.example'], { limits })).toMatchObject({ kind: 'agent-stop' });
    expect(await send(['ann@x.example'], { limits }, box.clock.now + MINUTE)).toMatchObject({ kind: 'waits' });
    expect(await send(['ann@x.example'], { limits })).toMatchObject({ kind: 'taken' });
    expect(await send(['ann@x.example'], { limits })).toMatchObject(stopped('budget_exceeded', 'sends'));
  });
});

describe('an answer of an agent', () => {
  test('into a conversation that another one has claimed is stopped until that one leaves it; what is done stays so', async () => {
    await claim('tok_2');
    expect(await send(['ann@x.example'])).toMatchObject(stopped('conflict', 'claimed'));
    // Mail about something else is none of it.
    expect(await send(['ann@x.example'], { answers: null })).toMatchObject({ kind: 'taken' });
    await box.store.write(endClaim, { account, named: { thread }, holder: 'tok_2', done: false });
    expect(await send(['ann@x.example'])).toMatchObject({ kind: 'taken' });
    await claim('tok_2');
    await box.store.write(endClaim, { account, named: { thread }, holder: 'tok_2', done: true });
    expect(await send(['ann@x.example'])).toMatchObject(stopped('conflict', 'done'));
  });

  test('goes where the claim is its own, or of the token that it is from', async () => {
    await claim('tok_0');
    const limits = { ...NO_LIMITS, from: ['tok_0'] };
    expect(await send(['ann@x.example'], { limits })).toMatchObject({ kind: 'taken' });
    expect(await send(['ann@x.example'], { credential: 'tok_0' })).toMatchObject({ kind: 'taken' });
  });

  test('is stopped where a person has answered since the claim', async () => {
    await claim(ME);
    expect(await send(['ann@x.example'])).toMatchObject({ kind: 'taken' });
    await put(ANSWER, 'Sent');
    expect(await send(['ann@x.example'])).toMatchObject(stopped('conflict', 'answered'));
  });

  test('is stopped by a person’s draft and answer where it has claimed nothing, but not from answering what came later', async () => {
    await put(ANSWER.replace('a@box', 'd@box'), 'Drafts');
    expect(await send(['ann@x.example'])).toMatchObject(stopped('conflict', 'drafted'));
    expect(await send(['ann@x.example'], { answers: null })).toMatchObject({ kind: 'taken' });
    await put(ANSWER, 'Sent');
    expect(await send(['ann@x.example'])).toMatchObject(stopped('conflict', 'answered'));
    const next = await put(ANSWER.replace('a@box.test', 'b@x.example'));
    expect(await send(['ann@x.example'], { answers: next })).toMatchObject({ kind: 'taken' });
  });
});
