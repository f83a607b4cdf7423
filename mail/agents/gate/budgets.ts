import { usageReachedAt, agentUse, answersIn, nthAnswerIn } from './send-log.ts';
import { findUncontacted } from '../../store/limit/budget.ts';
import type { Read } from '../../store/engine/types.ts';
import { ownerOf } from '../../store/queue/queue-lane.ts';
import { type GateInput, readerOf, type WeighedMail } from './gate-input.ts';
import type { AgentBudgets, AgentStop, SpentBudget } from './types.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Answers of agents in one thread within an hour: more is a loop between two programs. */
const MAX_ANSWERS_IN_THREAD = 20;

/** Budgets by window and by quantity. */
const WINDOWS = [
  { length: HOUR_MS, messages: 'messagesPerHour', fresh: 'newRecipientsPerHour', bytes: null },
  { length: DAY_MS, messages: 'messagesPerDay', fresh: 'newRecipientsPerDay', bytes: 'bytesPerDay' },
  { length: 7 * DAY_MS, messages: null, fresh: 'newRecipientsPerWeek', bytes: null },
] as const satisfies readonly Record<string, keyof AgentBudgets | number | null>[];

/**
 * Finds the budget that a message exceeds; of several the one with the latest reset. Without a policy only the loop guard
 * applies.
 */
export async function exceededBudget(rx: Read, input: WeighedMail, now: number): Promise<AgentStop | undefined> {
  const loop = await exceededAnswerLimit(rx, input, now);
  if (loop !== undefined || !input.agent.governed) return loop;
  const { budgets } = input.agent.policy;
  const { recipients } = input.context;
  const max = budgets.recipientsPerMessage;
  if (max !== null && recipients.length > max) {
    const text = `A message may have at most ${max} recipients, this one has ${recipients.length}`;
    return budgetStop({ name: 'recipientsPerMessage', limit: max, used: recipients.length }, text);
  }
  const [last] = (await exceededWindows(rx, input, now)).toSorted((a, b) => resetTime(b) - resetTime(a));
  return last;
}

const resetTime = ({ resetsAt = Infinity }: AgentStop): number => resetsAt;

async function exceededWindows(rx: Read, input: WeighedMail, now: number): Promise<AgentStop[]> {
  const { budgets } = input.agent.policy;
  const reader = readerOf(input.agent);
  const added = { messages: input.weight, fresh: input.fresh.length, bytes: input.mail.index.size };
  const found: AgentStop[] = [];
  for (const { length, ...names } of WINDOWS) {
    const used = await agentUse(rx, reader, now - length);
    for (const what of ['messages', 'fresh', 'bytes'] as const) {
      const name = names[what];
      const limit = name === null ? null : budgets[name];
      // A quantity that adds nothing never exceeds: known recipients stay possible when the budget for new ones is used up.
      if (name === null || limit === null || added[what] === 0 || used[what] + added[what] <= limit) continue;
      const budget = { name, limit, used: used[what] };
      if (added[what] > limit) {
        found.push(budgetStop(budget, `The budget ${name} is ${limit}, this message alone needs ${added[what]}`));
        continue;
      }
      const spent = { reader, since: now - length, what, amount: used[what] + added[what] - limit };
      const reachedAt = (await usageReachedAt(rx, spent)) ?? now;
      found.push(budgetStop(budget, `The budget ${name} of ${limit} is used up`, reachedAt + length));
    }
  }
  return found;
}

/** Remaining budget of a reader for messages and new recipients, by window. */
export async function agentBudgetsLeft(
  rx: Read,
  { reader, budgets }: { reader: string; budgets: AgentBudgets },
  now: number,
): Promise<{ messages: number | null; newRecipients: number | null }[]> {
  const remaining = [];
  for (const { length, messages, fresh } of WINDOWS) {
    const used = await agentUse(rx, reader, now - length);
    const limits = { messages: messages === null ? null : budgets[messages], fresh: budgets[fresh] };
    remaining.push({
      messages: limits.messages === null ? null : limits.messages - used.messages,
      newRecipients: limits.fresh === null ? null : limits.fresh - used.fresh,
    });
  }
  return remaining;
}

/** Recipients that the sender has never written to. */
export function newRecipientsOf(rx: Read, { mail, context }: GateInput): Promise<string[]> {
  const keys: string[] = [];
  for (const { key, internal } of context.recipients) if (!internal) keys.push(key);
  return findUncontacted(rx, ownerOf(mail), keys);
}

async function exceededAnswerLimit(
  rx: Read,
  { mail, context }: GateInput,
  now: number,
): Promise<AgentStop | undefined> {
  if (mail.account === null || context.thread === null) return undefined;
  const since = now - HOUR_MS;
  const answers = await answersIn(rx, { account: mail.account, thread: context.thread, since });
  if (answers < MAX_ANSWERS_IN_THREAD) return undefined;
  const text = `Agents answered ${answers} times in this thread within an hour: this may be a loop between two programs`;
  const { account } = mail;
  const nthAt = (await nthAnswerIn(rx, { account, thread: context.thread, nth: MAX_ANSWERS_IN_THREAD })) ?? now;
  return budgetStop({ name: 'answersInThread', limit: MAX_ANSWERS_IN_THREAD, used: answers }, text, nthAt + HOUR_MS);
}

function budgetStop(budget: SpentBudget, text: string, resetsAt?: number): AgentStop {
  const reasons = [{ code: budget.name, text }];
  return { kind: 'agent-stop', error: 'budget_exceeded', reasons, budget, ...(resetsAt !== undefined && { resetsAt }) };
}
