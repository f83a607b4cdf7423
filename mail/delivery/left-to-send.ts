import { type Allowance, allowanceLeft } from '../store/allowance.ts';
import { type Budget, budgetLeft } from '../store/budget.ts';
import { query } from '../store/engine/types.ts';
import { type LifeLimit, lifeLeft } from '../store/narrow-use.ts';
import { agentBudgetsLeft } from './agent/budgets.ts';
import type { AgentBudgets } from './agent/types.ts';

/** How much more somebody may send now; null: nothing limits it. */
export interface Left {
  readonly messages: number | null;
  /** Each time that somebody gets a message counts. */
  readonly recipients: number | null;
  /** Whom it never wrote to. */
  readonly newRecipients: number | null;
}

/** By what somebody is limited who sends. */
export interface Limited {
  readonly tenant: number;
  readonly allowance: Allowance | null;
  readonly budgets: readonly Budget[];
  /** An agent under a policy: as whom it is counted, and the policy's budgets. */
  readonly agent: { readonly reader: string; readonly budgets: AgentBudgets } | null;
  /** Of a narrowed token. */
  readonly sends: readonly LifeLimit[];
  /** ms UTC. */
  readonly now: number;
}

/**
 * What is left of everything that is counted, of each kind the least. It is told and not promised: the commit of the next
 * message counts again, and what is left of a rate or of octets is not in it. Null: there is no limit of any kind.
 */
export const leftToSend = query('left-to-send', async (rx, of: Limited): Promise<Left | null> => {
  const { budgets, agent, now } = of;
  const all: readonly (Partial<Left> | null)[] = [
    await budgetLeft.run(rx, { budgets, now }),
    await allowanceLeft(rx, of, now),
    ...(agent === null ? [] : await agentBudgetsLeft(rx, agent, now)),
    { messages: await lifeLeft(rx, of.sends) },
  ];
  const least = (name: keyof Left): number | null => {
    const given = all.flatMap((one) => one?.[name] ?? []);
    return given.length === 0 ? null : Math.max(0, Math.min(...given));
  };
  const left = { messages: least('messages'), recipients: least('recipients'), newRecipients: least('newRecipients') };
  return Object.values(left).every((one) => one === null) ? null : left;
});
