import type { Store } from '../../mail/store/engine/types.ts';
import { type AccountInfo, accountsOf } from '../../mail/store/account/account.ts';
import type { Caller } from '../core/caller.ts';
import { accountsInProject } from './mailbox-setup.ts';

/** The organization's mailboxes within the token's limits; none for a token limited to a service. */
export async function callerAccounts(store: Pick<Store, 'read'>, caller: Caller): Promise<AccountInfo[]> {
  const { organization: tenant, project, service, mailboxes } = caller;
  if (tenant === undefined || service !== null) return [];
  const all = await store.read(accountsOf, { tenant });
  const within = project === null ? null : new Set(await store.read(accountsInProject, { tenant, project }));
  return all.filter(({ id }) => (within?.has(id) ?? true) && (mailboxes?.includes(id) ?? true));
}
