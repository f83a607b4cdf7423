import type { MailStore } from '../store/store.ts';
import { readsAsPerson } from '../store/veil.ts';
import { type Access, type Call, handOf } from './method.ts';

/**
 * Whether a person has opened the account. Programs (tokens, and passwords that an agent has or that are under a policy for
 * agents) are not shown what mail says that acts for a person.
 */
export function isPersons(store: MailStore, access: Access): Promise<boolean> {
  return store.read(readsAsPerson, { account: access.account, hand: handOf(access) });
}

/** The same of who asks, in one of its accounts. */
export async function asksPerson({ desk, session }: Pick<Call, 'desk' | 'session'>, account: number): Promise<boolean> {
  const access = [...session.accounts.values()].find((one) => one.account === account);
  return access !== undefined && isPersons(desk.store, access);
}
