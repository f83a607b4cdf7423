import type { MailStore } from '../../mail/store/store.ts';
import { agentPasswords } from './queries.ts';

/** Ends what is open with a password of a mailbox; called after the commit. */
export type Revoke = (account: number, gone?: readonly number[]) => void;

/** All agents of an organization were stopped: sessions of passwords that they may have end; others begin no more. */
export async function endAgentLogins(
  { store, revoked }: { store: Pick<MailStore, 'read'>; revoked: Revoke },
  organization: number,
): Promise<void> {
  for (const { account, credential } of await store.read(agentPasswords, { organization })) {
    revoked(account, [credential]);
  }
}
