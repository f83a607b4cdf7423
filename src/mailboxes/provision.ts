import { randomBytes } from 'node:crypto';
import type { Log } from '../../mail/log.ts';
import { generatePassword } from '../../mail/login/password.ts';
import { ITERATIONS, SALT_BYTES } from '../../mail/login/verifier.ts';
import { type Address, addressKey, formatAddress } from '../../mail/message/address.ts';
import { listAccounts } from '../../mail/store/account/account.ts';
import { CHOSEN } from '../../mail/store/actor.ts';
import { accountSalt, setPassword } from '../../mail/store/account/credential.ts';
import { listDomains } from '../../mail/store/address/domain.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import { provisionMailbox } from './commands.ts';
import { ownCredential } from '../accounts/new-credential.ts';

export interface AccountContext {
  store: Store;
  secrets: SecretBox;
  log: Log;
}

export type ProvisionedAccount =
  | { kind: 'added'; account: number; address: string; password: string }
  | { kind: 'address-taken' }
  /** The tenant has no such domain, or the address belongs to another one. */
  | { kind: 'no-domain' }
  | { kind: 'bad-password' };

/** Creates a mailbox with address, default folders and password; generates a password if none is given. */
export async function provisionAccount(
  { store, secrets, log }: AccountContext,
  input: { tenant: number; domainId: number; address: Address; password?: string },
): Promise<ProvisionedAccount> {
  const { tenant, domainId, address, password = generatePassword() } = input;
  const marks = input.password === undefined ? [] : [CHOSEN];
  const domains = await store.read(listDomains, undefined);
  if (!domains.some((one) => one.id === domainId && one.name === address.domain)) return { kind: 'no-domain' };
  const salt = randomBytes(SALT_BYTES);
  const credential = await ownCredential(secrets, { password, salt, iterations: ITERATIONS }, marks);
  if (credential === undefined) return { kind: 'bad-password' };
  const written = formatAddress(address);
  const row = { tenant, domain: domainId, address: written, key: addressKey(address), salt, iterations: ITERATIONS };
  const added = await store.write(provisionMailbox, {
    ...row,
    credential,
    project: null,
    displayName: null,
    quotaBytes: null,
    policy: null,
    attach: null,
  });
  if (added.kind === 'address-taken' || added.kind === 'no-domain') return { kind: added.kind };
  if (added.kind !== 'added') throw new Error(`unexpected result ${added.kind} for a mailbox without a service`);
  log.info({ account: added.account, address: written }, 'mailbox added');
  return { kind: 'added', account: added.account, address: written, password };
}

export type PasswordChanged =
  { kind: 'changed'; address: string; password: string } | { kind: 'no-account' } | { kind: 'bad-password' };

/**
 * Replaces a mailbox's own password; app passwords stay. After the commit, `revoked` gets the revoked credentials, drops
 * cached logins and closes their sessions.
 */
export async function changeMailboxPassword(
  context: AccountContext & { revoked(account: number, credentials: readonly number[]): void },
  account: number,
  chosen?: string,
): Promise<PasswordChanged> {
  const password = chosen ?? generatePassword();
  const { store, secrets, log } = context;
  const address = (await store.read(listAccounts, undefined)).find((one) => one.id === account)?.address;
  const known = await store.read(accountSalt, { account });
  if (known === undefined || address === undefined) return { kind: 'no-account' };
  const credential = await ownCredential(secrets, { password, ...known }, chosen === undefined ? [] : [CHOSEN]);
  if (credential === undefined) return { kind: 'bad-password' };
  const done = await store.write(setPassword, { account, credential });
  if (done.kind === 'missing') return { kind: 'no-account' };
  context.revoked(account, done.old);
  log.info({ account, address }, 'mailbox password changed');
  return { kind: 'changed', address, password };
}
