import { rowId } from '../core/ids.ts';
import type { Call } from '../core/operation.ts';
import { addressKey, parseAddress } from '../../mail/message/address.ts';
import { agentPoliciesOf } from '../../mail/agents/policy/policies.ts';
import { aliasTargets } from '../../mail/store/address/alias-targets.ts';
import { mailboxOf } from './scope.ts';
import type { AffectedMailboxes } from '../core/operation.ts';

/** No mailboxes: for rules of the organization, its people, keys and tokens, where only the token's policy decides. */
export const noMailboxes = (): AffectedMailboxes => [];

export async function oneMailbox(call: Call, which: Parameters<typeof mailboxOf>[1]): Promise<AffectedMailboxes> {
  return [(await mailboxOf(call, which)).id];
}

/**
 * Returns all mailboxes under a policy, for a rule of the whole organization: otherwise omitting the mailbox would
 * bypass its policy.
 */
export async function everyMailbox({ store, tenant }: Call): Promise<AffectedMailboxes> {
  const policies = await store.read(agentPoliciesOf, { tenant });
  return policies.flatMap(({ accounts }) => accounts);
}

/** Returns the rows of mailbox ids. */
export function mailboxRows(mailboxIds: readonly string[]): AffectedMailboxes {
  return mailboxIds.flatMap((id) => rowId('mailbox', id) ?? []);
}

/**
 * Returns the mailboxes that receive mail for an address: directly, by an alias or a forward, also if its domain is not
 * verified yet.
 */
export async function mailboxesBehind({ store, tenant }: Call, text: string): Promise<AffectedMailboxes> {
  const address = parseAddress(text);
  return address === undefined ? [] : store.scan(aliasTargets, { tenant, key: addressKey(address) });
}
