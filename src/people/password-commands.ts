import { type Outgoing, send } from '../../mail/delivery/submit.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { takeHit } from '../bootstrap/hits-commands.ts';
import { insertLink } from './commands.ts';
import { accountOf, type DeadLink, linkOf } from './link-queries.ts';

const HOUR = 3_600_000;
/** A link for a new password is good for so long; its letter says so. */
const RESET_MS = HOUR;

export interface Account {
  user: number;
  /** As it was written. */
  email: string;
  password: string;
  addressProven: boolean;
}

/** Who signs in with an address, given as it is compared. */
export const findAccount = query('find-account', async (rx, input: { key: string }): Promise<Account | undefined> => {
  const found = await accountOf(rx, input.key);
  if (found === undefined) return undefined;
  const row = await rx.get<{ email: string; address_proven_at: number | null }>(
    'SELECT email, address_proven_at FROM user WHERE id = ?',
    found.user,
  );
  return row && { ...found, email: row.email, addressProven: row.address_proven_at !== null };
});

/** Mails a link for a new password: link and letter in one commit. Only to who has proved the address. */
export const requestReset = command(
  'request-reset',
  async (
    tx,
    input: {
      key: string;
      hash: Uint8Array;
      letter: Outgoing;
      /** Hash of the address without its +tag. */
      base: string;
    },
    stamp,
  ): Promise<{ kind: 'sent' | 'nobody' | 'limited' }> => {
    const row = await tx.get<{ id: number; email: string }>(
      `SELECT id, email FROM user WHERE email_key = ? AND password IS NOT NULL AND address_proven_at IS NOT NULL`,
      input.key,
    );
    if (row === undefined) return { kind: 'nobody' };
    const wait = await takeHit(tx, { counter: 'reset-mail', subject: input.base, most: 5, windowMs: 24 * HOUR }, stamp);
    if (wait > 0) return { kind: 'limited' };
    const link = { purpose: 'reset' as const, organization: null, user: row.id, email: row.email, role: null };
    const expiresAt = stamp.now + RESET_MS;
    await insertLink(tx, { ...link, mailed: true, hash: input.hash, expiresAt }, stamp);
    await send(tx, input.letter, stamp);
    return { kind: 'sent' };
  },
);

/** Whose password a link would replace. */
export const resetFacts = query(
  'reset-facts',
  async (
    rx,
    input: { hash: Uint8Array; now: number },
  ): Promise<{ kind: 'reset'; email: string } | { kind: DeadLink }> => {
    const link = await linkOf(rx, { purpose: 'reset', hash: input.hash }, input.now);
    return typeof link === 'string' ? { kind: link } : { kind: 'reset', email: link.email ?? '' };
  },
);

/** Replaces a password by a mailed link, once. Every session of the person ends, and every other such link. */
export const resetPassword = command(
  'reset-password',
  async (
    tx,
    input: { hash: Uint8Array; password: string },
    stamp,
  ): Promise<{ kind: 'reset'; user: number } | { kind: DeadLink }> => {
    const link = await linkOf(tx, { purpose: 'reset', hash: input.hash }, stamp.now);
    if (typeof link === 'string') return { kind: link };
    const { user } = link;
    const { changes } = await tx.run(
      'UPDATE user SET password = ? WHERE id = ? AND password IS NOT NULL AND address_proven_at IS NOT NULL',
      input.password,
      user,
    );
    if (changes === 0 || user === null) return { kind: 'missing' };
    await tx.run('DELETE FROM session WHERE user_id = ?', user);
    await tx.run(
      `UPDATE link SET used_at = ? WHERE user_id = ? AND purpose = 'reset' AND used_at IS NULL`,
      stamp.now,
      user,
    );
    return { kind: 'reset', user };
  },
);

/**
 * Replaces a person's password, or sets the first. `expected` is the stored one that was checked. Every other session
 * ends, and links that would replace the password too.
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
    const other = await accountOf(tx, row.email_key);
    if (other !== undefined && other.user !== input.user) return { kind: 'taken' };
    await tx.run('UPDATE user SET password = ? WHERE id = ?', input.password, input.user);
    await tx.run('DELETE FROM session WHERE user_id = ? AND id <> ?', input.user, input.session);
    await tx.run(
      `UPDATE link SET used_at = ? WHERE user_id = ? AND purpose = 'reset' AND used_at IS NULL`,
      stamp.now,
      input.user,
    );
    return { kind: 'changed' };
  },
);
