import { sendNotices, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command } from '../../mail/store/engine/types.ts';
import { type ResumeSenderResult, resumeSender } from '../../mail/store/limit/paused-sender.ts';

/** Sends the notices about one pause, once. False: already sent, or the pause is over. */
export const notifyPause = command(
  'notify-pause',
  async (
    tx,
    input: { sender: string; pausedAt: number; notices: readonly SystemNotice<'paused-sender'>[] },
    stamp,
  ): Promise<{ notified: boolean }> => {
    const { changes } = await tx.run(
      'UPDATE paused_sender SET notified_at = ? WHERE sender = ? AND paused_at = ? AND notified_at IS NULL',
      stamp.now,
      input.sender,
      input.pausedAt,
    );
    if (changes === 0) return { notified: false };
    await sendNotices(tx, input.notices, stamp);
    return { notified: true };
  },
);

/** {@link resumeSender}, unless the organization is frozen. */
export const resumeUnfrozen = command(
  'resume-unfrozen',
  async (tx, input: { sender: string; tenant: number }, stamp): Promise<ResumeSenderResult | { kind: 'frozen' }> => {
    const frozen = await tx.get(
      'SELECT 1 AS there FROM organization WHERE id = ? AND frozen_at IS NOT NULL',
      input.tenant,
    );
    return frozen === undefined ? resumeSender.run(tx, input, stamp) : { kind: 'frozen' };
  },
);

/**
 * Releases a batch of mail still held for resumed senders: resuming may have stopped half-way, and a resumed sender is
 * no longer listed as paused.
 */
export const releaseResumed = command('release-resumed', async (tx, _input: undefined, stamp): Promise<boolean> => {
  const resumed = await tx.all<{ sender: string; tenant: number }>(
    `SELECT p.sender, p.tenant FROM paused_sender p WHERE p.paused_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM organization o WHERE o.id = p.tenant AND o.frozen_at IS NOT NULL)`,
  );
  for (const one of resumed) if ((await resumeSender.run(tx, one, stamp)).more) return true;
  return false;
});
