import { randomBytes } from 'node:crypto';
import { preparePassword } from '../../mail/login/saslprep.ts';
import { makeVerifier } from '../../mail/login/verifier.ts';
import type { NewCredential } from '../../mail/store/account/credential.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';

/** Scopes of a mailbox's own password. */
export const SCOPES = ['imap', 'smtp', 'jmap'] as const;
/** Additional scope that forbids changes. */
export const READ_ONLY = 'read-only';
/** Encryption purpose of revealable passwords; bound to (credential, ref). */
export const PASSWORD_PURPOSE = 'mailbox password';

interface NewPassword {
  password: string;
  salt: Uint8Array;
  iterations: number;
}

/** Creates the account's own password, which can be revealed again. Undefined if it has forbidden characters. */
export async function ownCredential(
  secrets: SecretBox,
  wanted: NewPassword,
  marks: readonly string[] = [],
): Promise<NewCredential | undefined> {
  const ref = randomBytes(16).toString('hex');
  const sealed = secrets.seal(PASSWORD_PURPOSE, 'credential', ref, Buffer.from(wanted.password));
  return credential(wanted, {
    ref,
    kind: 'mailbox',
    name: 'password',
    scopes: [...SCOPES, ...marks],
    sealed,
    expiresAt: null,
  });
}

/** Creates an app password, shown once. Undefined if it has forbidden characters. */
export async function appCredential(
  wanted: NewPassword,
  { name, scopes, expiresAt }: { name: string; scopes: readonly string[]; expiresAt: number | null },
): Promise<NewCredential | undefined> {
  const ref = randomBytes(16).toString('hex');
  return credential(wanted, { ref, kind: 'app', name, scopes, sealed: null, expiresAt });
}

async function credential(
  { password, salt, iterations }: NewPassword,
  rest: Omit<NewCredential, 'storedKey' | 'serverKey'>,
): Promise<NewCredential | undefined> {
  if ((preparePassword(password) ?? '') === '') return undefined;
  return { ...rest, ...(await makeVerifier(password, Buffer.from(salt), iterations)) };
}
