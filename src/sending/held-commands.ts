import { releaseWaiting } from '../../mail/delivery/scheduled-messages.ts';
import { approvalRow, approve, findApprovalFlaw } from '../../mail/agents/approval/approval.ts';
import { command } from '../../mail/store/engine/types.ts';
import { type Steer, type Steered, changeQueue } from '../../mail/store/queue/queue-change.ts';

/** Releases a held message on behalf of the operator, unless its organization is frozen. */
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
    const approval = await approvalRow(tx, id);
    if (approval?.state !== 'pending') return releaseWaiting.run(tx, { id }, stamp);
    if ((await findApprovalFlaw(tx, approval, stamp.now, sha256)) !== undefined) return { kind: 'none' };
    await approve(tx, approval, 'operator', stamp);
    return { kind: 'released' };
  },
);

/** {@link changeQueue}, but rows of frozen organizations stay held. */
export const resumeUnfrozenQueue = command(
  'resume-unfrozen-queue',
  async (tx, input: Steer, stamp): Promise<Steered> => {
    if (input.what !== 'release') return changeQueue.run(tx, input, stamp);
    const frozen = await tx.all<{ id: number }>('SELECT id FROM organization WHERE frozen_at IS NOT NULL');
    return changeQueue.run(tx, { ...input, except: frozen.map(({ id }) => id) }, stamp);
  },
);
