import {
  isReadOnly,
  readableFolders,
  sharedAccount,
  type SharedAccount,
  sharedAccounts,
} from '../../store/mailbox/shared-account.ts';
import type { MailStore } from '../../store/store.ts';
import { notShareable } from './access.ts';
import { MethodError } from './errors.ts';
import { accountId } from './ids.ts';
import type { Access, JmapMethod, JmapSession, MethodCall } from './method.ts';

/** Adds the accounts that share mailboxes with the login of a session. RFC 8620 1.6.2. */
export async function withSharedAccounts(store: MailStore, session: JmapSession): Promise<JmapSession> {
  if (session.sharing === undefined) return session;
  const found = await store.read(sharedAccounts, session.sharing);
  if (found.length === 0) return session;
  // A password that only reads its own mailbox changes no other one either.
  const mayWrite = [...session.accounts.values()].some(({ readOnly }) => !readOnly);
  const shared = found.map((one) => [accountId(one.owner), accessOf(one, mayWrite)] as const);
  return { ...session, accounts: new Map([...session.accounts, ...shared]) };
}

/** Nothing is sent from a shared account. Secrets that agents do not see stay redacted, as by IMAP. */
function accessOf(account: SharedAccount, mayWrite: boolean): Access {
  const { owner, address, login } = account;
  const by = login.actor && { password: login.actor.credential };
  return {
    account: owner,
    address,
    readOnly: !mayWrite || isReadOnly(account),
    mayTransmit: false,
    shared: login,
    ...(by && { by }),
  };
}

/**
 * Reads the shared accounts that a call names; undefined: none. Throws if the method does not keep to the shared part, or
 * if nothing is shared any more.
 */
export async function namedSharedAccounts(
  call: MethodCall,
  method: JmapMethod,
  args: Record<string, unknown>,
): Promise<ReadonlyMap<number, SharedAccount> | undefined> {
  const shared = new Map<number, SharedAccount>();
  for (const argument of ['accountId', 'fromAccountId'] as const) {
    const name = args[argument];
    const access = typeof name === 'string' ? call.session.accounts.get(name) : undefined;
    if (access?.shared === undefined) continue;
    if (method.canShare !== true) throw notShareable();
    const found = await call.context.store.read(sharedAccount, { login: access.shared, owner: access.account });
    if (found === undefined) {
      const type = argument === 'accountId' ? 'accountNotFound' : 'fromAccountNotFound';
      throw new MethodError(type, 'Nothing of this account is shared with you any more.');
    }
    shared.set(found.owner, found);
  }
  return shared.size === 0 ? undefined : shared;
}

/** The shared part of an account; undefined: the account is the login's own. */
export function sharedPart(call: MethodCall, account: number): SharedAccount | undefined {
  return call.shared?.get(account);
}

/** The only mailboxes that the reader sees, for queries; undefined: all. */
export function readerScope(call: MethodCall, account: number): number[] | undefined {
  const shared = sharedPart(call, account);
  return shared && readableFolders(shared);
}
