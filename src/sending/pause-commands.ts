import { type Outgoing, send } from '../../mail/delivery/submit.ts';
import { command } from '../../mail/store/engine/types.ts';
import { type Resumed, resumeSender } from '../../mail/store/paused-sender.ts';

/** Sends the letters about one pause, once however often it is asked for. False: it was told, or it is over. */
export const tellPause = command(
  'tell-pause',
  async (
    tx,
    input: { sender: string; pausedAt: number; letters: readonly Outgoing[] },
    stamp,
  ): Promise<{ told: boolean }> => {
    const { changes } = await tx.run(
      'UPDATE paused_sender SET told_at = ? WHERE sender = ? AND paused_at = ? AND told_at IS NULL',
      stamp.now,
      input.sender,
      input.pausedAt,
    );
    if (changes === 0) return { told: false };
    for (const letter of input.letters) await send(tx, letter, stamp);
    return { told: true };
  },
);

/** {@link resumeSender}, where nothing of an organization that is frozen goes on. */
export const resumeUnfrozen = command(
  'resume-unfrozen',
  async (tx, input: { sender: string; tenant: number }, stamp): Promise<Resumed | { kind: 'frozen' }> => {
    const frozen = await tx.get(
      'SELECT 1 AS there FROM organization WHERE id = ? AND frozen_at IS NOT NULL',
      input.tenant,
    );
    return frozen === undefined ? resumeSender.run(tx, input, stamp) : { kind: 'frozen' };
  },
);

/**
 * Lets go a slice of what is still held for senders that send again: whoever resumed one may have got no further than
 * some of it, and such a sender stands in no list of paused ones.
 */
export const releaseResumed = command('release-resumed', async (tx, _input: undefined, stamp): Promise<boolean> => {
  const resumed = await tx.all<{ sender: string; tenant: number }>(
    `SELECT p.sender, p.tenant FROM paused_sender p WHERE p.paused_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM organization o WHERE o.id = p.tenant AND o.frozen_at IS NOT NULL)`,
  );
  for (const one of resumed) if ((await resumeSender.run(tx, one, stamp)).more) return true;
  return false;
});
