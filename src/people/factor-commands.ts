import { appendAudit } from '../audit/commands.ts';
import { msUntilHit, takeHit } from '../core/hits-commands.ts';
import { publicId } from '../core/ids.ts';
import type { Read, Stamp, Write } from '../../mail/store/engine/types.ts';

/** Way in which a session began. */
export type SignInMethod = 'password' | 'link' | 'claim' | 'totp' | 'recovery' | 'passkey' | 'provider';

/** A second factor that was checked, to be used up in the transaction that it allows. */
export type FactorProof = { kind: 'totp'; step: number } | { kind: 'recovery'; hash: Uint8Array };

/** Authenticator app of a person. */
export interface TotpState {
  /** Sealed. */
  secret: Uint8Array;
  lastStep: number;
}

/** Returns the confirmed authenticator app of a person. */
export async function totpOf(rx: Read, user: number): Promise<TotpState | undefined> {
  return rx.get<{ secret: Uint8Array; lastStep: number }>(
    'SELECT secret, last_step AS "lastStep" FROM totp WHERE user_id = ? AND confirmed_at IS NOT NULL',
    user,
  );
}

/** True for a person `u` who has a second factor. */
export const HAS_SECOND_FACTOR = `(EXISTS (SELECT 1 FROM totp f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL)
  OR EXISTS (SELECT 1 FROM passkey f WHERE f.user_id = u.id))`;

/** Tests if a person must prove a second factor. */
export async function hasSecondFactor(rx: Read, user: number): Promise<boolean> {
  const row = await rx.get(`SELECT 1 AS there FROM user u WHERE u.id = ? AND ${HAS_SECOND_FACTOR}`, user);
  return row !== undefined;
}

const HOUR = 3_600_000;
const COUNTER = 'second-factor';
/**
 * Attempts for one person, from all networks. A code has six digits and three are valid at a time: with 30 a day a thief of the
 * password has a chance of 1 in 11,000 a day.
 */
const LIMITS = [
  { counter: COUNTER, most: 10, windowMs: HOUR },
  { counter: `${COUNTER}-day`, most: 30, windowMs: 24 * HOUR },
] as const;

/** Counts an attempt before it is checked, so that concurrent ones cannot pass together; or returns ms to wait. */
export async function takeAttempt(tx: Write, user: number, stamp: Stamp): Promise<number> {
  const subject = String(user);
  for (const limit of LIMITS) {
    const waitMs = await msUntilHit(tx, { ...limit, subject }, stamp);
    if (waitMs > 0) return waitMs;
  }
  for (const limit of LIMITS) await takeHit(tx, { ...limit, subject }, stamp);
  return 0;
}

/** Uses up a second factor: a code is accepted once. False: somebody was faster. */
export async function useProof(tx: Write, user: number, proof: FactorProof, stamp: Stamp): Promise<boolean> {
  if (!(await spend(tx, user, proof, stamp))) return false;
  for (const { counter } of LIMITS) {
    await tx.run('DELETE FROM rate_limit_hit WHERE counter = ? AND subject = ?', counter, String(user));
  }
  return true;
}

async function spend(tx: Write, user: number, proof: FactorProof, { now }: Stamp): Promise<boolean> {
  const { changes } =
    proof.kind === 'totp'
      ? await tx.run(
          'UPDATE totp SET last_step = ? WHERE user_id = ? AND confirmed_at IS NOT NULL AND last_step < ?',
          proof.step,
          user,
          proof.step,
        )
      : await tx.run(
          'UPDATE recovery_code SET used_at = ? WHERE code_hash = ? AND user_id = ? AND used_at IS NULL',
          now,
          proof.hash,
          user,
        );
  return changes === 1;
}

/** Person whose act is recorded, with the address of their browser. */
export interface PersonActor {
  user: number;
  ip: string;
}

/** Organizations that get an audit row. */
const MAX_ORGANIZATIONS = 100;

/** Appends an act of a person on their own account to the audit log of each of their organizations. */
export async function auditPerson(
  tx: Write,
  { user, ip }: PersonActor,
  { operation, detail = {} }: { operation: string; detail?: Readonly<Record<string, string | number>> },
  stamp: Stamp,
): Promise<void> {
  const rows = await tx.all<{ organization: number; email: string }>(
    `SELECT m.organization_id AS organization, u.email FROM member m JOIN user u ON u.id = m.user_id
     WHERE m.user_id = ? ORDER BY m.organization_id LIMIT ?`,
    user,
    MAX_ORGANIZATIONS,
  );
  const actor = publicId('user', user);
  for (const { organization, email: actorName } of rows) {
    const entry = { organization, actor, actorName, way: 'portal' as const, ip, operation, target: actor, detail };
    await appendAudit(tx, entry, 'done', stamp);
  }
}
