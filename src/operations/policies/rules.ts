import { z } from 'zod';
import { readPolicy } from '../../../mail/delivery/agent/policy.ts';
import { type Preset, PRESET_POLICIES, PRESETS } from '../../../mail/delivery/agent/presets.ts';
import type { AgentPolicy } from '../../../mail/delivery/agent/types.ts';
import { addressKey, parseAddress, parseDomain } from '../../../mail/message/address.ts';
import type { StoredAgentPolicy } from '../../../mail/store/agent-policy.ts';
import { BUDGETS } from '../../agents/policy-words.ts';
import { Line } from '../schemas.ts';

/** Somebody or a whole domain, as the gate compares them. */
const Entry = Line(1, 320).transform((text, context) => {
  const address = parseAddress(text);
  const key = address === undefined ? parseDomain(text) : addressKey(address);
  if (key !== undefined) return key;
  context.addIssue({ code: 'custom', message: 'must be an address or a domain' });
  return z.NEVER;
});

const Limit = z
  .number()
  .int()
  .min(0)
  .max(2 ** 40)
  .nullable();

/** What can be said of a policy; what is left out is as the preset or the policy has it. */
export const Rules = {
  preset: z.enum(PRESETS).optional(),
  sends: z.enum(['anybody', 'replies', 'allowed', 'nobody']).optional(),
  allow: z.array(Entry).max(200).optional(),
  block: z.array(Entry).max(200).optional(),
  holdAfterReading: z.boolean().optional(),
  rulesWait: z.boolean().optional(),
  budgets: z.partialRecord(z.enum(BUDGETS), Limit).optional(),
};
const Given = z.object(Rules);
export type GivenRules = z.output<typeof Given>;

/** Whether anything is said of what a policy allows. */
export function saysRules(given: GivenRules): boolean {
  return Object.keys(Rules).some((name) => given[name as keyof GivenRules] !== undefined);
}

/** The rules that are meant: of the preset, else of the policy that is there, with what is given. */
export function rulesFrom(
  given: GivenRules,
  there: StoredAgentPolicy | undefined,
): { preset: Preset; rules: AgentPolicy } {
  const { preset, sends, allow, block, holdAfterReading, rulesWait, budgets } = given;
  const known = there === undefined || preset !== undefined ? undefined : readPolicy(there.rules);
  const base = known ?? PRESET_POLICIES[preset ?? 'custom'];
  return {
    preset: preset ?? PRESETS.find((one) => one === there?.preset) ?? 'custom',
    rules: {
      sends: sends ?? base.sends,
      allow: allow ?? base.allow,
      block: block ?? base.block,
      holdAfterReading: holdAfterReading ?? base.holdAfterReading,
      rulesWait: rulesWait ?? base.rulesWait,
      budgets: { ...base.budgets, ...budgets },
    },
  };
}
