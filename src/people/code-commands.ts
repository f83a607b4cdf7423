import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { auditPerson, type FactorProof, type PersonActor, useProof } from './factor-commands.ts';

/** Stores recovery codes of a person; earlier ones end. */
export async function replaceCodes(
  tx: Write,
  user: number,
  codes: readonly Uint8Array[],
  { now }: Stamp,
): Promise<void> {
  await tx.run('DELETE FROM recovery_code WHERE user_id = ?', user);
  for (const hash of codes) {
    await tx.run('INSERT INTO recovery_code (code_hash, user_id, created_at) VALUES (?, ?, ?)', hash, user, now);
  }
}

/** Stores recovery codes of a person who has none. False: the person keeps earlier ones. */
export async function offerCodes(
  tx: Write,
  user: number,
  codes: readonly Uint8Array[],
  stamp: Stamp,
): Promise<boolean> {
  const kept = await tx.get('SELECT 1 AS kept FROM recovery_code WHERE user_id = ? LIMIT 1', user);
  if (kept === undefined) await replaceCodes(tx, user, codes, stamp);
  return kept === undefined;
}

/** Deletes the recovery codes of a person without another second factor: they alone would be asked for. */
export async function dropLoneCodes(tx: Write, user: number): Promise<void> {
  await tx.run(
    `DELETE FROM recovery_code WHERE user_id = ?1 AND NOT EXISTS (SELECT 1 FROM passkey WHERE user_id = ?1)
       AND NOT EXISTS (SELECT 1 FROM totp WHERE user_id = ?1 AND confirmed_at IS NOT NULL)`,
    user,
  );
}

/** Replaces the recovery codes, by a second factor. */
export const renewRecoveryCodes = command(
  'renew-recovery-codes',
  async (
    tx,
    input: PersonActor & { proof: FactorProof; codes: readonly Uint8Array[] },
    stamp,
  ): Promise<{ kind: 'renewed' | 'used' }> => {
    if (!(await useProof(tx, input.user, input.proof, stamp))) return { kind: 'used' };
    await replaceCodes(tx, input.user, input.codes, stamp);
    await auditPerson(tx, input, { operation: 'renew_recovery_codes' }, stamp);
    return { kind: 'renewed' };
  },
);

/** Uses up a second factor that allows what follows. `used`: the code was accepted elsewhere. */
export const spendFactor = command(
  'spend-factor',
  async (tx, input: { user: number; proof: FactorProof }, stamp): Promise<{ kind: 'spent' | 'used' }> => ({
    kind: (await useProof(tx, input.user, input.proof, stamp)) ? 'spent' : 'used',
  }),
);
