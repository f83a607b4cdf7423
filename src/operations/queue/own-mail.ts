import { agentSendOf } from '../../../mail/agents/gate/send-log.ts';
import type { AffectedMailboxes, Call } from '../../core/operation.ts';

/**
 * Mailboxes affected by stopping a message that is not sent yet: undefined if the token sent it itself. Nothing brings
 * back a cancelled message, so a governed token only proposes to cancel mail of people and of other agents.
 */
export async function unlessOwnMail(
  { store, tenant, caller }: Call,
  { trace, account }: { trace: string; account: number | null },
): Promise<AffectedMailboxes | undefined> {
  const sent = await store.read(agentSendOf, { tenant, trace });
  if (sent?.credential === caller.actor) return undefined;
  return account === null ? [] : [account];
}
