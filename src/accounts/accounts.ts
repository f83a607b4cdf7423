import { randomBytes } from 'node:crypto';
import type { Log } from '../../mail/log.ts';
import { generatePassword } from '../../mail/login/password.ts';
import { ITERATIONS, makeVerifier, SALT_BYTES } from '../../mail/login/verifier.ts';
import { preparePassword } from '../../mail/login/prepare.ts';
import { type Address, addressKey, formatAddress, parseAddress } from '../../mail/message/address.ts';
import { addAccount, findLogin, listAccounts, type NewCredential, setPassword } from '../../mail/store/account.ts';
import { listDomains } from '../../mail/store/domain.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';

/** What a mailbox's own password opens. */
const SCOPES = ['imap', 'smtp', 'jmap'];
/** The purpose under which revealable passwords are sealed; the row is (credential, ref). */
export const PASSWORD_PURPOSE = 'mailbox password';

export interface AccountContext {
  store: Store;
  secrets: SecretBox;
  log: Log;
}

export type Provisioned =
  | { kind: 'added'; account: number; address: string; password: string }
  | { kind: 'address-taken' }
  /** The tenant has no such domain, or the address is on another one. */
  | { kind: 'no-domain' }
  | { kind: 'bad-password' };

/** Makes a mailbox with its address, first folders and password; a password is generated when none is given. */
export async function provisionAccount(
  { store, secrets, log }: AccountContext,
  input: { tenant: number; domainId: number; address: Address; password?: string },
): Promise<Provisioned> {
  const { tenant, domainId, address, password = generatePassword() } = input;
  const domains = await store.read(listDomains, undefined);
  if (!domains.some((one) => one.id === domainId && one.name === address.domain)) return { kind: 'no-domain' };
  const salt = randomBytes(SALT_BYTES);
  const credential = await newCredential(secrets, password, salt, ITERATIONS);
  if (credential === undefined) return { kind: 'bad-password' };
  const written = formatAddress(address);
  const row = { tenant, domain: domainId, address: written, key: addressKey(address), salt, iterations: ITERATIONS };
  const added = await store.write(addAccount, { ...row, credential });
  if (added.kind !== 'added') return added;
  log.info({ account: added.account, address: written }, 'mailbox added');
  return { kind: 'added', account: added.account, address: written, password };
}

export type PasswordChanged =
  { kind: 'changed'; address: string; password: string } | { kind: 'no-account' } | { kind: 'bad-password' };

/**
 * Replaces a mailbox's own password; app passwords stay. `revoked` is told of the credentials that hold no more, after
 * the commit: it drops cached logins and ends their sessions.
 */
export async function changePassword(
  context: AccountContext & { revoked(account: number, credentials: readonly number[]): void },
  account: number,
  password: string = generatePassword(),
): Promise<PasswordChanged> {
  const { store, secrets, log } = context;
  const known = await findSalt(store, account);
  if (known === undefined) return { kind: 'no-account' };
  const credential = await newCredential(secrets, password, Buffer.from(known.salt), known.iterations);
  if (credential === undefined) return { kind: 'bad-password' };
  const old = await store.write(setPassword, { account, credential });
  context.revoked(account, old);
  log.info({ account, address: known.address }, 'mailbox password changed');
  return { kind: 'changed', address: known.address, password };
}

/** One salt an account, for all its credentials: a SCRAM proof is tried against each of them. */
async function findSalt(store: Store, account: number) {
  const info = (await store.read(listAccounts, undefined)).find((one) => one.id === account);
  const address = info && parseAddress(info.address);
  return address && store.read(findLogin, { key: addressKey(address) });
}

/** Undefined when the password has characters that none may have. */
async function newCredential(
  secrets: SecretBox,
  password: string,
  salt: Buffer,
  iterations: number,
): Promise<NewCredential | undefined> {
  if ((preparePassword(password) ?? '') === '') return undefined;
  const ref = randomBytes(16).toString('hex');
  return {
    ref,
    kind: 'mailbox',
    name: 'password',
    scopes: SCOPES,
    ...(await makeVerifier(password, salt, iterations)),
    sealed: secrets.seal(PASSWORD_PURPOSE, 'credential', ref, Buffer.from(password)),
    expiresAt: null,
  };
}
