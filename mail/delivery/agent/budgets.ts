import { agentSpentBy, agentUse, answersIn, nthAnswerIn } from '../../store/agent-send.ts';
import { strangers } from '../../store/budget.ts';
import type { Read } from '../../store/engine/types.ts';
import { ownerOf } from '../../store/queue-lane.ts';
import { type Asking, readerOf } from './asking.ts';
import { weightOf } from './egress.ts';
import type { AgentBudgets, AgentStop, SpentBudget } from './types.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Answers of agents in one thread within an hour: more is two programs that answer each other. */
const MOST_IN_THREAD = 20;

/** Budgets of each window: which of them counts what. */
const WINDOWS = [
  { length: HOUR_MS, messages: 'messagesPerHour', fresh: 'newRecipientsPerHour', bytes: null },
  { length: DAY_MS, messages: 'messagesPerDay', fresh: 'newRecipientsPerDay', bytes: 'bytesPerDay' },
  { length: 7 * DAY_MS, messages: null, fresh: 'newRecipientsPerWeek', bytes: null },
] as const satisfies readonly Record<string, keyof AgentBudgets | number | null>[];

/**
 * The budget of the policy that a message is too much for, of several the one that has room last; undefined: none. Without a
 * policy there is the loop guard only.
 */
export async function overAgentBudget(rx: Read, asking: Asking, now: number): Promise<AgentStop | undefined> {
  const loop = await overLoop(rx, asking, now);
  if (loop !== undefined || !asking.agent.governed) return loop;
  const { budgets } = asking.agent.policy;
  const { recipients } = asking.circle;
  const most = budgets.recipientsPerMessage;
  if (most !== null && recipients.length > most) {
    const text = `A message may have ${most} recipients, and this has ${recipients.length}`;
    return over({ name: 'recipientsPerMessage', limit: most, used: recipients.length }, text);
  }
  const [last] = (await overWindows(rx, asking, now)).toSorted((a, b) => roomAt(b) - roomAt(a));
  return last;
}

const roomAt = ({ resetsAt = Infinity }: AgentStop): number => resetsAt;

async function overWindows(rx: Read, asking: Asking, now: number): Promise<AgentStop[]> {
  const { budgets } = asking.agent.policy;
  const reader = readerOf(asking.agent);
  const fresh = (await freshOf(rx, asking)).length;
  const added = { messages: await weightOf(rx, asking, now), fresh, bytes: asking.mail.index.size };
  const found: AgentStop[] = [];
  for (const { length, ...names } of WINDOWS) {
    const used = await agentUse(rx, reader, now - length);
    for (const what of ['messages', 'fresh', 'bytes'] as const) {
      const name = names[what];
      const limit = name === null ? null : budgets[name];
      // What adds nothing is never too much: a known recipient can be written to when the new ones are used up.
      if (name === null || limit === null || added[what] === 0 || used[what] + added[what] <= limit) continue;
      const budget = { name, limit, used: used[what] };
      if (added[what] > limit) {
        found.push(over(budget, `Its budget ${name} is ${limit}, and this message alone is ${added[what]}`));
        continue;
      }
      const spent = { reader, since: now - length, what, amount: used[what] + added[what] - limit };
      const gone = (await agentSpentBy(rx, spent)) ?? now;
      found.push(over(budget, `Its budget ${name} of ${limit} is used up`, gone + length));
    }
  }
  return found;
}

/** What is left to a reader of each budget of a policy that counts messages or new recipients, by whatever window. */
export async function agentBudgetsLeft(
  rx: Read,
  { reader, budgets }: { reader: string; budgets: AgentBudgets },
  now: number,
): Promise<{ messages: number | null; newRecipients: number | null }[]> {
  const left = [];
  for (const { length, messages, fresh } of WINDOWS) {
    const used = await agentUse(rx, reader, now - length);
    const most = { messages: messages === null ? null : budgets[messages], fresh: budgets[fresh] };
    left.push({
      messages: most.messages === null ? null : most.messages - used.messages,
      newRecipients: most.fresh === null ? null : most.fresh - used.fresh,
    });
  }
  return left;
}

/** Recipients whom the sender never wrote to. */
export function freshOf(rx: Read, { mail, circle }: Asking): Promise<string[]> {
  const keys = circle.recipients.filter(({ house }) => !house).map(({ key }) => key);
  return strangers(rx, ownerOf(mail), keys);
}

async function overLoop(rx: Read, { mail, circle }: Asking, now: number): Promise<AgentStop | undefined> {
  if (mail.account === null || circle.thread === null) return undefined;
  const since = now - HOUR_MS;
  const answers = await answersIn(rx, { account: mail.account, thread: circle.thread, since });
  if (answers < MOST_IN_THREAD) return undefined;
  const text = `Agents answered in this thread ${answers} times within an hour: perhaps two programs answer each other`;
  const { account } = mail;
  const gone = (await nthAnswerIn(rx, { account, thread: circle.thread, nth: MOST_IN_THREAD })) ?? now;
  return over({ name: 'answersInThread', limit: MOST_IN_THREAD, used: answers }, text, gone + HOUR_MS);
}

function over(budget: SpentBudget, text: string, resetsAt?: number): AgentStop {
  const reasons = [{ code: budget.name, text }];
  return { kind: 'agent-stop', error: 'budget_exceeded', reasons, budget, ...(resetsAt !== undefined && { resetsAt }) };
}
