import { type Allowance, allowanceLeft } from '../store/limit/allowance.ts';
import { type Budget, budgetLeft } from '../store/limit/budget.ts';
import { query } from '../store/engine/types.ts';
import { type LifetimeLimit, remainingLifetime } from '../agents/gate/life-limits.ts';
import { agentBudgetsLeft } from '../agents/gate/budgets.ts';
import type { AgentBudgets } from '../agents/gate/types.ts';

/** Remaining sending budget; null: no limit. */
export interface RemainingBudget {
  readonly messages: number | null;
  /** Counted once per message and recipient. */
  readonly recipients: number | null;
  /** Recipients that it never wrote to before. */
  readonly newRecipients: number | null;
}

/** Limits of a sender. */
export interface BudgetInput {
  readonly tenant: number;
  readonly allowance: Allowance | null;
  readonly budgets: readonly Budget[];
  /** Agent under a policy: its counter key, and the budgets of the policy. */
  readonly agent: { readonly reader: string; readonly budgets: AgentBudgets } | null;
  /** Limits of a narrowed token. */
  readonly tokenLimits: readonly LifetimeLimit[];
  /** ms UTC. */
  readonly now: number;
}

/**
 * Returns the remaining budget: the minimum over all limits. Informational: the commit of the next message counts again, and
 * rate and octet limits are not included. Null: no limit.
 */
export const readRemainingBudget = query(
  'remaining-budget',
  async (rx, input: BudgetInput): Promise<RemainingBudget | null> => {
    const { budgets, agent, now } = input;
    const all: readonly (Partial<RemainingBudget> | null)[] = [
      await budgetLeft.run(rx, { budgets, now }),
      await allowanceLeft(rx, input, now),
      ...(agent === null ? [] : await agentBudgetsLeft(rx, agent, now)),
      { messages: await remainingLifetime(rx, input.tokenLimits) },
    ];
    const least = (name: keyof RemainingBudget): number | null => {
      const given = all.flatMap((one) => one?.[name] ?? []);
      return given.length === 0 ? null : Math.max(0, Math.min(...given));
    };
    const left = {
      messages: least('messages'),
      recipients: least('recipients'),
      newRecipients: least('newRecipients'),
    };
    return Object.values(left).every((one) => one === null) ? null : left;
  },
);
