import { z } from 'zod';
import { readPolicy } from '../../../mail/agents/policy/effective-policy.ts';
import { type Preset, PRESET_POLICIES, PRESETS } from '../../../mail/agents/policy/presets.ts';
import type { AgentPolicy } from '../../../mail/agents/gate/types.ts';
import { addressKey, parseAddress, parseDomain } from '../../../mail/message/address.ts';
import type { StoredAgentPolicy } from '../../../mail/agents/policy/policies.ts';
import { BUDGETS } from '../../agents/policy-words.ts';
import { Line } from '../../core/schemas.ts';

/** An address or domain, normalized for the gate. */
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

/** Policy rules; omitted fields come from the preset or the existing policy. */
export const Rules = {
  preset: z.enum(PRESETS).describe('Rules to start from').optional(),
  sends: z.enum(['anybody', 'replies', 'allowed', 'nobody']).describe('Allowed recipients').optional(),
  allow: z.array(Entry).max(200).describe('Addresses and domains').optional(),
  block: z.array(Entry).max(200).describe('Addresses and domains').optional(),
  holdAfterReading: z.boolean().describe("Hold mail after reading outsiders' mail").optional(),
  rulesWait: z.boolean().describe('Rule changes need approval').optional(),
  budgets: z.partialRecord(z.enum(BUDGETS), Limit).describe('Sending limits; null: none').optional(),
};
const Given = z.object(Rules);
export type GivenRules = z.output<typeof Given>;

/** Returns true if any rule is given. */
export function hasRules(given: GivenRules): boolean {
  return Object.keys(Rules).some((name) => given[name as keyof GivenRules] !== undefined);
}

/** Merges the given rules into the preset, or into the existing policy. */
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
