import type { MailStore } from '../store/store.ts';
import { readsAsHuman } from '../agents/quarantine/redact.ts';
import { type Access, type MethodCall, actorOf } from './core/method.ts';

/**
 * Checks for a human reader. Programs (tokens, passwords of agents and passwords under an agent policy) get quarantined
 * text redacted: sign-in links and codes.
 */
export async function isHumanAccess(store: MailStore, access: Access): Promise<boolean> {
  return store.read(readsAsHuman, { account: access.account, actor: actorOf(access) });
}

/** Applies {@link isHumanAccess} to the session's access to an account. */
export async function isHumanReader(
  { context, session }: Pick<MethodCall, 'context' | 'session'>,
  account: number,
): Promise<boolean> {
  const access = [...session.accounts.values()].find((one) => one.account === account);
  return access !== undefined && isHumanAccess(context.store, access);
}
