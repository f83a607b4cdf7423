import type { Call, Operation } from '../operation.ts';
import { attachAgentPolicyTo, saveAgentPolicyOf } from './people.ts';

/** The operation that a proposal is about; undefined when there is none of that name any more. */
export async function decidable({ catalogue }: Call, name: string): Promise<Operation | undefined> {
  const own: readonly Operation[] = [saveAgentPolicyOf, attachAgentPolicyTo];
  return own.find((one) => one.name === name) ?? (await catalogue()).find((one) => one.name === name);
}
