import { addAlias, type Alias, aliasesOf, type NewAlias } from '../../mail/store/address/alias.ts';
import { domainsOf } from '../../mail/store/address/domain.ts';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import type { TestStore } from './store.ts';

/** An alias of the tenant of `box.test`. */
export async function testAlias(box: TestStore, local: string, terms: Partial<NewAlias>): Promise<number> {
  const [domain] = await box.store.read(domainsOf, { tenant: 1 });
  const key = `${local}@box.test`;
  const blank = { tenant: 1, domain: domain?.id ?? 0, key, accounts: [], note: '', expiresAt: null, most: null };
  const added = await box.store.write(addAlias, { ...blank, ...terms });
  if (added.kind !== 'added') throw new Error(added.kind);
  return added.id;
}

export async function aliasNow(box: TestStore, id: number): Promise<Alias> {
  const found = (await box.store.read(aliasesOf, { tenant: 1 })).find((one) => one.id === id);
  if (found === undefined) throw new Error('no such alias');
  return found;
}

/** Messages in an inbox. */
export async function inInbox(box: TestStore, account: number): Promise<number> {
  return (await box.store.read(findMailbox, { account, name: 'INBOX' }))?.total ?? 0;
}
