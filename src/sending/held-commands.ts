import { releaseWaiting } from '../../mail/delivery/schedule.ts';
import { approvalRow, approve, undecidable } from '../../mail/store/approval.ts';
import { command } from '../../mail/store/engine/types.ts';
import { type Steer, type Steered, steerQueue } from '../../mail/store/queue-steering.ts';

/** Lets go what a person had to look at, who runs the box; nothing of an organization that is frozen. */
export const releaseHeld = command(
  'release-held',
  async (
    tx,
    { id, sha256 }: { id: number; sha256?: string },
    stamp,
  ): Promise<{ kind: 'released' | 'none' | 'frozen' }> => {
    const frozen = await tx.get(
      `SELECT 1 AS there FROM submission s JOIN organization o ON o.id = s.tenant
       WHERE s.id = ? AND o.frozen_at IS NOT NULL`,
      id,
    );
    if (frozen !== undefined) return { kind: 'frozen' };
    const asked = await approvalRow(tx, id);
    if (asked?.state !== 'pending') return releaseWaiting.run(tx, { id }, stamp);
    if ((await undecidable(tx, asked, stamp.now, sha256)) !== undefined) return { kind: 'none' };
    await approve(tx, asked, 'operator', stamp);
    return { kind: 'released' };
  },
);

/** {@link steerQueue}, where rows of organizations that are frozen stay held, whatever they were held for. */
export const steerUnfrozen = command('steer-unfrozen', async (tx, input: Steer, stamp): Promise<Steered> => {
  if (input.what !== 'release') return steerQueue.run(tx, input, stamp);
  const frozen = await tx.all<{ id: number }>('SELECT id FROM organization WHERE frozen_at IS NOT NULL');
  return steerQueue.run(tx, { ...input, except: frozen.map(({ id }) => id) }, stamp);
});
