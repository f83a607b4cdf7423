import { command, lookup } from '../engine/types.ts';

/** Facts for skipping greylisting. */
export interface GreylistFacts {
  /** Time until which the triplet counts as retried, ms UTC; 0: not retried. */
  passedUntil: number;
  /** Retried triplets of its network, counted up to 3. */
  networkPasses: number;
  /** The account had non-junk mail from this network, or wrote to the sender. */
  known: boolean;
}

const ENOUGH_PASSES = 3;
const SLICE = 200;

/** `account` null: an address without a mailbox. */
export const greylistFacts = lookup(
  'greylist-facts',
  async (
    rx,
    input: { triplet: number; network: string; sender: string; account: number | null; now: number },
  ): Promise<GreylistFacts> => {
    const { triplet, network, sender, account, now } = input;
    const row = await rx.get<{ passed: number; passes: number; met: number; wrote: number }>(
      `SELECT ifnull((SELECT expires_at FROM greylist WHERE triplet = ?1 AND expires_at > ?5), 0) AS passed,
         (SELECT count(*) FROM (SELECT 1 FROM greylist WHERE network = ?2 AND expires_at > ?5 LIMIT 3)) AS passes,
         EXISTS (SELECT 1 FROM sender WHERE account_id = ?4 AND key = 'n:' || ?2 AND seen >= 0.5 AND seen > junked) AS met,
         EXISTS (SELECT 1 FROM correspondent WHERE account_id = ?4 AND key = ?3) AS wrote`,
      triplet,
      network,
      sender,
      account,
      now,
    );
    const { passed = 0, passes = 0, met = 0, wrote = 0 } = row ?? {};
    return { passedUntil: passed, networkPasses: Math.min(passes, ENOUGH_PASSES), known: met === 1 || wrote === 1 };
  },
);

/** Records that a triplet retried. */
export const passGreylist = command(
  'pass-greylist',
  async (tx, { triplet, network, until }: { triplet: number; network: string; until: number }): Promise<void> => {
    await tx.run(
      `INSERT INTO greylist (triplet, network, expires_at) VALUES (?, ?, ?)
       ON CONFLICT (triplet) DO UPDATE SET expires_at = max(greylist.expires_at, excluded.expires_at)`,
      triplet,
      network,
      until,
    );
  },
);

/** Purges a slice of expired triplets. */
export const purgeGreylist = command('purge-greylist', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const { changes } = await tx.run(
    'DELETE FROM greylist WHERE triplet IN (SELECT triplet FROM greylist WHERE expires_at <= ? LIMIT ?)',
    now,
    SLICE,
  );
  return changes === SLICE;
});
