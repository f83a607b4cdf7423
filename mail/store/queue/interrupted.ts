import { command } from '../engine/types.ts';

/** Age of attempts that are looked at, ms: older ones have been tried again since. */
const RECENT_MS = 30 * 60_000;
/** Attempts after which a row keeps its time: a message that ends each node must not be tried every minute. */
const MAX_ATTEMPTS = 2;

/**
 * Makes rows due at `at` whose attempt has no result, since the node that made it has ended: their next time is that of a
 * failed attempt otherwise. Returns their number.
 */
export const resumeInterrupted = command(
  'resume-interrupted',
  async (tx, { at }: { at: number }, { now }): Promise<number> => {
    const { changes } = await tx.run(
      `UPDATE queue SET next_at = ? WHERE state = 0 AND next_at > ? AND attempts <= ?
         AND id IN (SELECT queue_id FROM attempt WHERE at > ? AND ended_at IS NULL)`,
      at,
      at,
      MAX_ATTEMPTS,
      now - RECENT_MS,
    );
    return changes;
  },
);
