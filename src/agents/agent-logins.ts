import type { MailStore } from '../../mail/store/store.ts';
import { agentPasswords } from './queries.ts';

/** Ends sessions of a mailbox's passwords; called after the commit. */
export type Revoke = (account: number, gone?: readonly number[]) => void;

/** Ends sessions of passwords that agents may have, after all agents of an organization were stopped. */
export async function endAgentLogins(
  { store, revoked }: { store: Pick<MailStore, 'read'>; revoked: Revoke },
  organization: number,
): Promise<void> {
  for (const { account, credential } of await store.read(agentPasswords, { organization })) {
    revoked(account, [credential]);
  }
}
