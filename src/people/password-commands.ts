import { takeNoticeHit } from '../core/hits-commands.ts';
import { sendNotice, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { insertLink, findPasswordUser, type DeadLink, findLink } from './commands.ts';

const HOUR = 3_600_000;
/** A reset link expires after this; its notice says so. */
const RESET_MS = HOUR;

export interface Account {
  user: number;
  /** As entered. */
  email: string;
  password: string;
  addressProven: boolean;
}

/** Finds the account of an address, given as compared. */
export const findAccount = query('find-account', async (rx, input: { key: string }): Promise<Account | undefined> => {
  const found = await findPasswordUser(rx, input.key);
  if (found === undefined) return undefined;
  const row = await rx.get<{ email: string; address_verified_at: number | null }>(
    'SELECT email, address_verified_at FROM user WHERE id = ?',
    found.user,
  );
  return row && { ...found, email: row.email, addressProven: row.address_verified_at !== null };
});

/** Mails a reset link to a person with a verified address: link and notice in one commit. */
export const requestReset = command(
  'request-reset',
  async (
    tx,
    input: {
      key: string;
      hash: Uint8Array;
      notice: SystemNotice<'password-reset'>;
      /** Hash of the address without its +tag. */
      base: string;
    },
    stamp,
  ): Promise<{ kind: 'sent' | 'nobody' | 'limited' }> => {
    const row = await tx.get<{ id: number; email: string }>(
      `SELECT id, email FROM user WHERE email_key = ? AND password IS NOT NULL AND address_verified_at IS NOT NULL`,
      input.key,
    );
    if (row === undefined) return { kind: 'nobody' };
    const wait = await takeNoticeHit(tx, 'password-reset', input.base, stamp);
    if (wait > 0) return { kind: 'limited' };
    const link = { purpose: 'reset' as const, organization: null, user: row.id, email: row.email, role: null };
    const expiresAt = stamp.now + RESET_MS;
    await insertLink(tx, { ...link, mailed: true, hash: input.hash, expiresAt }, stamp);
    await sendNotice(tx, input.notice, stamp);
    return { kind: 'sent' };
  },
);

/** Previews a reset link. */
export const resetFacts = query(
  'reset-facts',
  async (
    rx,
    input: { hash: Uint8Array; now: number },
  ): Promise<{ kind: 'reset'; email: string } | { kind: DeadLink }> => {
    const link = await findLink(rx, { purpose: 'reset', hash: input.hash }, input.now);
    return typeof link === 'string' ? { kind: link } : { kind: 'reset', email: link.email ?? '' };
  },
);

/** Replaces a password by a mailed link, once. Ends all sessions of the person and all other such links. */
export const resetPassword = command(
  'reset-password',
  async (
    tx,
    input: { hash: Uint8Array; password: string },
    stamp,
  ): Promise<{ kind: 'reset'; user: number } | { kind: DeadLink }> => {
    const link = await findLink(tx, { purpose: 'reset', hash: input.hash }, stamp.now);
    if (typeof link === 'string') return { kind: link };
    const { user } = link;
    const { changes } = await tx.run(
      'UPDATE user SET password = ? WHERE id = ? AND password IS NOT NULL AND address_verified_at IS NOT NULL',
      input.password,
      user,
    );
    if (changes === 0 || user === null) return { kind: 'missing' };
    await tx.run('DELETE FROM session WHERE user_id = ?', user);
    await tx.run('DELETE FROM pending_sign_in WHERE user_id = ?', user);
    await tx.run(
      `UPDATE link SET used_at = ? WHERE user_id = ? AND purpose = 'reset' AND used_at IS NULL`,
      stamp.now,
      user,
    );
    return { kind: 'reset', user };
  },
);

/**
 * Replaces a person's password, or sets the first. `expected` is the stored one that was checked. Ends all other sessions, and
 * links that could replace the password.
 */
export const changePassword = command(
  'change-person-password',
  async (
    tx,
    input: { user: number; expected: string | null; password: string; session: number },
    stamp,
  ): Promise<{ kind: 'changed' | 'stale' | 'taken' }> => {
    const row = await tx.get<{ email_key: string; password: string | null }>(
      'SELECT email_key, password FROM user WHERE id = ?',
      input.user,
    );
    if (row === undefined || row.password !== input.expected) return { kind: 'stale' };
    const other = await findPasswordUser(tx, row.email_key);
    if (other !== undefined && other.user !== input.user) return { kind: 'taken' };
    await tx.run('UPDATE user SET password = ? WHERE id = ?', input.password, input.user);
    await tx.run('DELETE FROM session WHERE user_id = ? AND id <> ?', input.user, input.session);
    await tx.run('DELETE FROM pending_sign_in WHERE user_id = ?', input.user);
    await tx.run(
      `UPDATE link SET used_at = ? WHERE user_id = ? AND purpose = 'reset' AND used_at IS NULL`,
      stamp.now,
      input.user,
    );
    return { kind: 'changed' };
  },
);

const DAY = 86_400_000;

/** Mails a person a link that verifies their address: link and notice in one commit. */
export const requestProof = command(
  'request-proof',
  async (
    tx,
    input: {
      user: number;
      email: string;
      hash: Uint8Array;
      notice: SystemNotice<'address-proof'>;
      /** Hash of the address without its +tag. */
      base: string;
    },
    stamp,
  ): Promise<{ kind: 'sent' | 'limited' }> => {
    const wait = await takeNoticeHit(tx, 'address-proof', input.base, stamp);
    if (wait > 0) return { kind: 'limited' };
    const { user, email, hash } = input;
    const link = { purpose: 'prove' as const, organization: null, user, email, role: null, mailed: true, hash };
    await insertLink(tx, { ...link, expiresAt: stamp.now + DAY }, stamp);
    await sendNotice(tx, input.notice, stamp);
    return { kind: 'sent' };
  },
);

/**
 * Uses such a link, once, for the signed-in person who requested it. Reading the mail alone verifies nothing: the reader of a
 * mistyped address could otherwise take over the account by a password reset.
 */
export const proveAddress = command(
  'prove-address',
  async (
    tx,
    input: { hash: Uint8Array; user: number },
    stamp,
  ): Promise<{ kind: 'proven' | 'somebody-else' | DeadLink }> => {
    const link = await findLink(tx, { purpose: 'prove', hash: input.hash }, stamp.now);
    if (typeof link === 'string') return { kind: link };
    if (link.user !== input.user) return { kind: 'somebody-else' };
    await tx.run('UPDATE link SET used_at = ? WHERE id = ?', stamp.now, link.id);
    await tx.run(
      'UPDATE user SET address_verified_at = coalesce(address_verified_at, ?) WHERE id = ?',
      stamp.now,
      input.user,
    );
    return { kind: 'proven' };
  },
);
