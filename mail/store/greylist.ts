import { command, query } from './engine/types.ts';

/** What speaks for letting a stranger in at once. */
export interface GreylistFacts {
  /** This triplet came again before; ms UTC until when that counts, 0 when it did not. */
  passedUntil: number;
  /** Triplets of its network that did, at most 3 are counted. */
  networkPasses: number;
  /** The account had mail from this network and took it for no junk, or wrote to the sender. */
  known: boolean;
}

const ENOUGH = 3;
const SLICE = 200;

/** `account` null: of an address without a mailbox. */
export const greylistFacts = query(
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
    return { passedUntil: passed, networkPasses: Math.min(passes, ENOUGH), known: met === 1 || wrote === 1 };
  },
);

/** Remembers that somebody came again. */
export const passGreylist = command(
  'pass-greylist',
  async (tx, { triplet, network, until }: { triplet: number; network: string; until: number }): Promise<void> => {
    await tx.run(
      `INSERT INTO greylist (triplet, network, expires_at) VALUES (?, ?, ?)
       ON CONFLICT (triplet) DO UPDATE SET expires_at = max(expires_at, excluded.expires_at)`,
      triplet,
      network,
      until,
    );
  },
);

/** Forgets a slice of those who have not come for long. */
export const forgetGreylist = command('forget-greylist', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const { changes } = await tx.run(
    'DELETE FROM greylist WHERE triplet IN (SELECT triplet FROM greylist WHERE expires_at <= ? LIMIT ?)',
    now,
    SLICE,
  );
  return changes === SLICE;
});
