import { addressKey, parseAddress } from '../../mail/message/address.ts';
import { agentPoliciesOf } from '../../mail/store/agent-policy.ts';
import { ledTo } from '../../mail/store/led-to.ts';
import { rowId } from '../ids.ts';
import type { Call } from './operation.ts';
import { mailboxOf } from './scope.ts';

/**
 * Mailboxes that a change of a rule is about, by their rows. Beside the policy of the token that of each of them decides
 * whether a person has to accept it.
 */
export type About = readonly number[];

/** Of the organization and its people, keys and tokens: the policy of the token decides. */
export const noMailbox = (): About => [];

export async function oneMailbox(call: Call, which: Parameters<typeof mailboxOf>[1]): Promise<About> {
  return [(await mailboxOf(call, which)).id];
}

/** Of what holds for all mailboxes, or else leaving out which one is meant would be a way round: those under a policy. */
export async function everyMailbox({ store, tenant }: Call): Promise<About> {
  const policies = await store.read(agentPoliciesOf, { tenant });
  return policies.flatMap(({ accounts }) => accounts);
}

/** Those that are named by their ids. */
export function rowsOf(mailboxIds: readonly string[]): About {
  return mailboxIds.flatMap((id) => rowId('mailbox', id) ?? []);
}

/** Those that get the mail of an address, by an alias too, or would once its domain is proved, and whose mail goes on to it. */
export async function mailboxesBehind({ store, tenant }: Call, text: string): Promise<About> {
  const address = parseAddress(text);
  return address === undefined ? [] : store.scan(ledTo, { tenant, key: addressKey(address) });
}
