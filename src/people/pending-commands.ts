import { command, query, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import {
  auditPerson,
  type FactorProof,
  hasSecondFactor,
  takeAttempt,
  totpOf,
  type TotpState,
  useProof,
} from './factor-commands.ts';
import { type NewSession, startSession } from './session-commands.ts';

/** Time for the second step of a sign-in. */
export const PENDING_SIGN_IN_MS = 10 * 60_000;
/** Codes that one first factor allows. */
const MAX_ATTEMPTS = 5;
/** Unfinished sign-ins of a person; a new one replaces the oldest. */
const MAX_PENDING = 20;

/** Starts a session, or for people with a second factor a sign-in that waits for it; `pending` is the hash of its cookie. */
export const beginSignIn = command(
  'begin-sign-in',
  (tx, input: { session: NewSession; pending: Uint8Array; next: string }, stamp): Promise<{ kind: 'in' | 'step' }> =>
    startOrWait(tx, input, stamp),
);

/** Starts a session after the first factor, or lets it wait for the second. */
export async function startOrWait(
  tx: Write,
  { session, pending, next }: { session: NewSession; pending: Uint8Array; next: string },
  stamp: Stamp,
): Promise<{ kind: 'in' | 'step' }> {
  const { user, byProvider = false } = session;
  if (!(await hasSecondFactor(tx, user))) {
    await startSession(tx, session, stamp);
    return { kind: 'in' };
  }
  await insertPending(tx, { user, pending, next, byProvider }, stamp);
  return { kind: 'step' };
}

async function insertPending(
  tx: Write,
  { user, pending, next, byProvider }: { user: number; pending: Uint8Array; next: string; byProvider: boolean },
  { now }: Stamp,
): Promise<void> {
  await tx.run(
    'DELETE FROM pending_sign_in WHERE token_hash IN (SELECT token_hash FROM pending_sign_in WHERE expires_at <= ? LIMIT 50)',
    now,
  );
  await tx.run(
    `DELETE FROM pending_sign_in WHERE token_hash IN (SELECT token_hash FROM pending_sign_in WHERE user_id = ?
       ORDER BY created_at DESC, token_hash LIMIT -1 OFFSET ?)`,
    user,
    MAX_PENDING - 1,
  );
  await tx.run(
    `INSERT INTO pending_sign_in (token_hash, user_id, next, attempts, created_at, expires_at, by_provider)
     VALUES (?, ?, ?, 0, ?, ?, ?)`,
    pending,
    user,
    next,
    now,
    now + PENDING_SIGN_IN_MS,
    Number(byProvider),
  );
}

/** A sign-in that waits for its second factor. */
export interface PendingSignIn {
  user: number;
  email: string;
  next: string;
  attempts: number;
}

async function openPending(rx: Read, hash: Uint8Array, now: number): Promise<PendingSignIn | undefined> {
  return rx.get<{ user: number; email: string; next: string; attempts: number }>(
    `SELECT p.user_id AS user, u.email, p.next, p.attempts FROM pending_sign_in p JOIN user u ON u.id = p.user_id
     WHERE p.token_hash = ? AND p.expires_at > ? AND p.attempts < ?`,
    hash,
    now,
    MAX_ATTEMPTS,
  );
}

/** Finds the sign-in of a cookie; undefined if it has expired or used up its attempts. */
export const findPendingSignIn = query(
  'find-pending-sign-in',
  (rx, input: { hash: Uint8Array; now: number }): Promise<PendingSignIn | undefined> =>
    openPending(rx, input.hash, input.now),
);

export type FactorAttempt =
  { kind: 'go'; user: number; totp: TotpState | null } | { kind: 'ended' } | { kind: 'limited'; waitMs: number };

/** Counts a code for the second step, before it is checked. */
export const admitSecondStep = command(
  'admit-second-step',
  async (tx, input: { hash: Uint8Array }, stamp): Promise<FactorAttempt> => {
    const found = await openPending(tx, input.hash, stamp.now);
    if (found === undefined) return { kind: 'ended' };
    const waitMs = await takeAttempt(tx, found.user, stamp);
    if (waitMs > 0) return { kind: 'limited', waitMs };
    await tx.run('UPDATE pending_sign_in SET attempts = attempts + 1 WHERE token_hash = ?', input.hash);
    return { kind: 'go', user: found.user, totp: (await totpOf(tx, found.user)) ?? null };
  },
);

/** Counts a code of somebody who is signed in. */
export const admitFactorCheck = command(
  'admit-factor-check',
  async (tx, input: { user: number }, stamp): Promise<FactorAttempt> => {
    const waitMs = await takeAttempt(tx, input.user, stamp);
    if (waitMs > 0) return { kind: 'limited', waitMs };
    return { kind: 'go', user: input.user, totp: (await totpOf(tx, input.user)) ?? null };
  },
);

/** Uses up the second factor and starts the session, in one commit. `used`: the code was accepted elsewhere. */
export const finishSignIn = command(
  'finish-sign-in',
  async (
    tx,
    input: { pending: Uint8Array; proof: FactorProof; session: NewSession },
    stamp,
  ): Promise<{ kind: 'in'; next: string } | { kind: 'used' | 'ended' }> => {
    const { pending, proof, session } = input;
    const row = await tx.get<{ user_id: number; next: string; by_provider: number }>(
      'SELECT user_id, next, by_provider FROM pending_sign_in WHERE token_hash = ? AND expires_at > ?',
      pending,
      stamp.now,
    );
    if (row === undefined || row.user_id !== session.user) return { kind: 'ended' };
    if (!(await useProof(tx, session.user, proof, stamp))) return { kind: 'used' };
    await tx.run('DELETE FROM pending_sign_in WHERE token_hash = ?', pending);
    if (proof.kind === 'recovery') {
      await auditPerson(tx, session, { operation: 'use_recovery_code' }, stamp);
    }
    await startSession(tx, { ...session, byProvider: row.by_provider === 1 }, stamp);
    return { kind: 'in', next: row.next };
  },
);

/** True if the sign-in of a cookie waits for the second factor of this person after the provider's. */
export async function waitsAfterProvider(rx: Read, hash: Uint8Array, user: number, now: number): Promise<boolean> {
  const found = await rx.get(
    'SELECT 1 AS there FROM pending_sign_in WHERE token_hash = ? AND user_id = ? AND by_provider = 1 AND expires_at > ?',
    hash,
    user,
    now,
  );
  return found !== undefined;
}
