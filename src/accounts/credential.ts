import { randomBytes } from 'node:crypto';
import { preparePassword } from '../../mail/login/prepare.ts';
import { makeVerifier } from '../../mail/login/verifier.ts';
import type { NewCredential } from '../../mail/store/credential.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';

/** What a mailbox's own password opens. */
export const SCOPES = ['imap', 'smtp', 'jmap'] as const;
/** Beside scopes: nothing may be changed. */
export const READ_ONLY = 'read-only';
/** The purpose under which revealable passwords are sealed; the row is (credential, ref). */
export const PASSWORD_PURPOSE = 'mailbox password';

interface Wanted {
  password: string;
  salt: Uint8Array;
  iterations: number;
}

/** The account's own password, which can be revealed again. Undefined when it has characters that none may have. */
export async function ownCredential(secrets: SecretBox, wanted: Wanted): Promise<NewCredential | undefined> {
  const ref = randomBytes(16).toString('hex');
  const sealed = secrets.seal(PASSWORD_PURPOSE, 'credential', ref, Buffer.from(wanted.password));
  return credential(wanted, { ref, kind: 'mailbox', name: 'password', scopes: SCOPES, sealed, expiresAt: null });
}

/** A password for one program, shown once. Undefined when it has characters that none may have. */
export async function appCredential(
  wanted: Wanted,
  { name, scopes, expiresAt }: { name: string; scopes: readonly string[]; expiresAt: number | null },
): Promise<NewCredential | undefined> {
  const ref = randomBytes(16).toString('hex');
  return credential(wanted, { ref, kind: 'app', name, scopes, sealed: null, expiresAt });
}

async function credential(
  { password, salt, iterations }: Wanted,
  rest: Omit<NewCredential, 'storedKey' | 'serverKey'>,
): Promise<NewCredential | undefined> {
  if ((preparePassword(password) ?? '') === '') return undefined;
  return { ...rest, ...(await makeVerifier(password, Buffer.from(salt), iterations)) };
}
