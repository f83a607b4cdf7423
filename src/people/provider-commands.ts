import { command, lookup, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { auditPerson } from './factor-commands.ts';
import { startOrWait } from './pending-commands.ts';
import type { NewSession } from './session-commands.ts';

/** Time to sign in at the provider. */
const PROVIDER_SIGN_IN_MS = 10 * 60_000;

/** Stores that a browser was sent to the provider; `hash` is of its cookie. */
export const beginProviderSignIn = command(
  'begin-provider-sign-in',
  async (tx, input: { hash: Uint8Array; issuer: string; next: string }, { now }): Promise<void> => {
    await tx.run(
      'DELETE FROM provider_sign_in WHERE token_hash IN (SELECT token_hash FROM provider_sign_in WHERE expires_at <= ? LIMIT 50)',
      now,
    );
    await tx.run(
      'INSERT INTO provider_sign_in (token_hash, issuer, next, expires_at) VALUES (?, ?, ?, ?)',
      input.hash,
      input.issuer,
      input.next,
      now + PROVIDER_SIGN_IN_MS,
    );
  },
);

/** Takes the sign-in of a browser: the provider answers it once, rightly or not. */
export const takeProviderSignIn = command(
  'take-provider-sign-in',
  async (tx, input: { hash: Uint8Array }, stamp): Promise<{ issuer: string; next: string } | undefined> => {
    const row = await tx.get<{ issuer: string; next: string; expires_at: number }>(
      'SELECT issuer, next, expires_at FROM provider_sign_in WHERE token_hash = ?',
      input.hash,
    );
    if (row === undefined) return undefined;
    await tx.run('DELETE FROM provider_sign_in WHERE token_hash = ?', input.hash);
    return row.expires_at > stamp.now ? { issuer: row.issuer, next: row.next } : undefined;
  },
);

/** A person as the provider names them. */
export interface ProviderIdentity {
  issuer: string;
  subject: string;
  /** Address that the provider has verified, as compared; null: none. */
  key: string | null;
}

/** Why a person of the provider is nobody here. */
export type ProviderRefusal = 'unknown' | 'unverified' | 'other-subject';

export type ProviderSignIn = { kind: 'in' | 'step'; user: number } | { kind: ProviderRefusal };

/** Signs in a person of the provider: the linked one, else the one with the address, who is linked by it. */
export const signInByProvider = command(
  'sign-in-by-provider',
  async (
    tx,
    input: { identity: ProviderIdentity; session: Omit<NewSession, 'user'>; pending: Uint8Array; next: string },
    stamp,
  ): Promise<ProviderSignIn> => {
    const { identity, session, pending, next } = input;
    const linked = (await linkedUser(tx, identity)) ?? (await linkByAddress(tx, identity, session.ip, stamp));
    if (typeof linked === 'string') return { kind: linked };
    await tx.run(
      'UPDATE provider_identity SET last_used_at = ? WHERE issuer = ? AND subject = ?',
      stamp.now,
      identity.issuer,
      identity.subject,
    );
    const own = { ...session, user: linked, byProvider: true };
    const { kind } = await startOrWait(tx, { session: own, pending, next }, stamp);
    return { kind, user: linked };
  },
);

async function linkedUser(tx: Write, { issuer, subject }: ProviderIdentity): Promise<number | undefined> {
  const row = await tx.get<{ user: number }>(
    `SELECT i.user_id AS user FROM provider_identity i JOIN user u ON u.id = i.user_id
     WHERE i.issuer = ? AND i.subject = ? AND EXISTS (SELECT 1 FROM member m WHERE m.user_id = u.id)`,
    issuer,
    subject,
  );
  return row?.user;
}

/**
 * Links the member who verified the same address here. An unverified one may be somebody else's, and an address that is linked
 * to another subject has a new owner at the provider.
 */
async function linkByAddress(
  tx: Write,
  { issuer, subject, key }: ProviderIdentity,
  ip: string,
  stamp: Stamp,
): Promise<number | ProviderRefusal> {
  const person = await tx.get<{ user: number; verified: number | null }>(
    `SELECT u.id AS user, u.address_verified_at AS verified FROM user u WHERE u.email_key = ? AND u.password IS NOT NULL
       AND EXISTS (SELECT 1 FROM member m WHERE m.user_id = u.id)`,
    key ?? '',
  );
  if (key === null || person === undefined) return 'unknown';
  if (person.verified === null) return 'unverified';
  const { changes } = await tx.run(
    `INSERT INTO provider_identity (issuer, subject, user_id, linked_at, last_used_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
    issuer,
    subject,
    person.user,
    stamp.now,
    stamp.now,
  );
  if (changes === 0) return 'other-subject';
  await auditPerson(tx, { user: person.user, ip }, { operation: 'link_single_sign_on', detail: { issuer } }, stamp);
  return person.user;
}

/** Time from which a person is linked to a provider; undefined: they are not. */
export const providerLinkedAt = lookup(
  'provider-linked-at',
  async (rx, input: { user: number; issuer: string }): Promise<number | undefined> => {
    const row = await rx.get<{ linked: number }>(
      'SELECT linked_at AS linked FROM provider_identity WHERE user_id = ? AND issuer = ?',
      input.user,
      input.issuer,
    );
    return row?.linked;
  },
);

/** Removes the link of a person to a provider. The next sign-in by the verified address creates another. */
export const unlinkProvider = command(
  'unlink-provider',
  async (tx, input: { user: number; ip: string; issuer: string }, stamp): Promise<void> => {
    const { user, issuer } = input;
    const done = await tx.run('DELETE FROM provider_identity WHERE user_id = ? AND issuer = ?', user, issuer);
    if (done.changes === 0) return;
    await auditPerson(tx, input, { operation: 'unlink_single_sign_on', detail: { issuer } }, stamp);
  },
);
