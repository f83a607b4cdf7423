import type { Submission } from '../../mail/delivery/submission.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PRESET_POLICIES } from '../../mail/agents/policy/presets.ts';
import { type BudgetInput, readRemainingBudget } from '../../mail/delivery/remaining-budget.ts';
import { type AgentSending, DEFAULT_POLICY } from '../../mail/agents/gate/types.ts';
import { submit } from '../../mail/delivery/submission-commit.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const HOUR = 3_600_000;
const UNCLAIMED = { messages: 200, burst: 10, newRecipients: 50, only: null, until: 'x' };
const POLICY = PRESET_POLICIES['trusted-internal'];

let box: TestStore;
let account: number;
beforeEach(async () => {
  box = await testStore();
  ({ account } = await testAccount(box.store));
});
afterEach(() => box[Symbol.asyncDispose]());

const AGENT: AgentSending = {
  credential: 'tok_1',
  mode: 'normal',
  policy: POLICY,
  governed: true,
  answers: null,
  forwards: false,
  secrets: [],
  attended: true,
  limits: null,
};
let n = 0;
const send = async (to: string[], over: Partial<Submission> = {}): Promise<string> => {
  const mail = outgoing('Subject: s\r\n\r\nx\r\n', to, { trace: `left-${++n}`, account });
  return (await box.store.write(submit, { ...unlimitedSubmission(mail), ...over })).kind;
};
const left = (over: Partial<BudgetInput> = {}) =>
  box.store.read(readRemainingBudget, {
    tenant: 1,
    allowance: null,
    budgets: [],
    agent: null,
    tokenLimits: [],
    now: box.clock.now,
    ...over,
  });

test('who is limited by nothing is informed', async () => {
  expect(await left()).toBeNull();
  expect(await left({ agent: { reader: 'tok_1', budgets: DEFAULT_POLICY.budgets } })).toBeNull();
});

test('an organization that nobody stands for is informed what is left of its day', async () => {
  const allowance = UNCLAIMED;
  expect(await left({ allowance })).toEqual({ messages: 200, recipients: null, newRecipients: 50 });
  expect(await send(['a@x.example', 'b@x.example'], { allowance })).toBe('taken');
  expect(await left({ allowance })).toEqual({ messages: 199, recipients: null, newRecipients: 48 });
  box.clock.now += 25 * HOUR;
  expect(await left({ allowance })).toEqual({ messages: 200, recipients: null, newRecipients: 50 });
});

test('an agent under a policy is informed of the window in which the least is left', async () => {
  const agent = { reader: 'tok_1', budgets: POLICY.budgets };
  expect(await left({ agent })).toEqual({ messages: 60, recipients: null, newRecipients: 3 });
  const verdict = { kind: 'agent', agent: AGENT } as const;
  expect(await send(['a@x.example', 'b@x.example'], { verdict })).toBe('taken');
  expect(await left({ agent })).toEqual({ messages: 59, recipients: null, newRecipients: 1 });
  expect(await send(['c@x.example', 'd@x.example'], { verdict })).toBe('agent-stop');
  box.clock.now += 2 * HOUR;
  // The hour is over, and of the day's five two are gone.
  expect(await left({ agent })).toEqual({ messages: 60, recipients: null, newRecipients: 3 });
  expect(await send(['c@x.example', 'd@x.example', 'e@x.example'], { verdict })).toBe('taken');
  expect(await left({ agent })).toMatchObject({ newRecipients: 0 });
});

test('of all limits the least counts', async () => {
  const budgets = [
    { subject: 'account/1', explanation: '', daily: 40, newRecipients: { account: 1, most: 30 } },
    { subject: 'tenant/1', explanation: '', daily: 20 },
  ];
  const tokenLimits = [
    { of: 'life/a', most: 7 },
    { of: 'life/b', most: 9 },
  ];
  const all = { allowance: UNCLAIMED, budgets, tokenLimits };
  expect(await left(all)).toEqual({ messages: 7, recipients: 20, newRecipients: 30 });
});
