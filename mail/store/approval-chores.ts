import { APPROVAL, type ApprovalRow, endApproval } from './approval.ts';
import { command } from './engine/types.ts';

const DAY_MS = 86_400_000;
/** What was decided can be looked at for so long. */
const KEPT_MS = 30 * DAY_MS;
const SLICE = 50;

/** Ends a slice of what nobody decided about in time. Answers whether there may be more. */
export const expireApprovals = command('expire-approvals', async (tx, _: undefined, stamp): Promise<boolean> => {
  const late = await tx.all<ApprovalRow>(
    `SELECT ${APPROVAL} FROM approval INDEXED BY approval_pending WHERE state = 'pending' AND expires_at <= ?
     ORDER BY expires_at LIMIT ? + 0`,
    stamp.now,
    SLICE,
  );
  for (const row of late) await endApproval(tx, row, 'expired', null, stamp);
  return late.length === SLICE;
});

/** Forgets a slice of what was decided long ago; what still waits for its time stays. */
export const forgetApprovals = command('forget-approvals', async (tx, _: undefined, stamp): Promise<boolean> => {
  const { changes } = await tx.run(
    `DELETE FROM approval WHERE id IN (SELECT id FROM approval INDEXED BY approval_decided
       WHERE decided_at < ? AND NOT EXISTS (SELECT 1 FROM scheduled WHERE submission_id = approval.id)
       ORDER BY decided_at LIMIT ? + 0)`,
    stamp.now - KEPT_MS,
    SLICE,
  );
  return changes === SLICE;
});
