import type { AreaContext } from '../core/area-context.ts';
import { ownMailboxes } from './access-queries.ts';

/** Number of a login without password. */
const NO_PASSWORD = 0;

type EndContext = Pick<AreaContext, 'store' | 'revoked'>;

/**
 * Closes open connections of web mail that a person opened from the portal, after one of their sessions ended. Other browsers connect
 * again by themselves.
 */
export async function endMemberMail({ store, revoked }: EndContext, user: number): Promise<void> {
  for (const { account } of await store.read(ownMailboxes, { user })) revoked(account, [NO_PASSWORD]);
}

/** The same around a change that may take mailboxes from the person: those from before it are closed. */
export async function endingMemberMail<T>(context: EndContext, user: number, change: () => Promise<T>): Promise<T> {
  const before = await context.store.read(ownMailboxes, { user });
  const done = await change();
  for (const { account } of before) context.revoked(account, [NO_PASSWORD]);
  return done;
}
