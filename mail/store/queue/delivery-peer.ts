import { command, query, type Stamp, type Write } from '../engine/types.ts';
import type { AttemptResult } from './queue.ts';
import { dayOf } from './tls-result.ts';

/** A peer that takes no mail for this time is forgotten. */
const KEEP_DAYS = 60;
const SLICE = 200;

/** Records the domains and hosts that took mail. Automatic mail does not count: anyone can cause a bounce or a vacation reply. */
export async function notePeers(tx: Write, ends: readonly AttemptResult[], stamp: Stamp): Promise<void> {
  const taken = ends.filter(({ outcome, automatic }) => outcome === 'delivered' && automatic !== true);
  const names = taken.flatMap(({ to = '', host }) => [to.slice(to.lastIndexOf('@') + 1), host]);
  const peers = new Set(names.filter((name) => name !== '').map(reversed));
  if (peers.size === 0) return;
  await tx.run(
    `INSERT INTO delivery_peer (name, day) SELECT value, ?1 FROM json_each(?2, '$') WHERE true
     ON CONFLICT (name) DO UPDATE SET day = excluded.day WHERE delivery_peer.day < excluded.day`,
    dayOf(stamp.now),
    JSON.stringify([...peers]),
  );
}

function reversed(name: string): string {
  return name.toLowerCase().split('.').toReversed().join('.');
}

/** True if one of the domains, or a name below it, took mail from here in the last 60 days. */
export const isDeliveryPeer = query(
  'is-delivery-peer',
  async (rx, { domains, now }: { domains: readonly string[]; now: number }): Promise<boolean> => {
    for (const domain of domains) {
      // Below `com.example` are the names from `com.example.` up to `com.example/`, the next character.
      const found = await rx.get(
        `SELECT 1 AS there FROM delivery_peer WHERE (name = ?1 OR name >= ?1 || '.' AND name < ?1 || '/') AND day >= ?2 LIMIT 1`,
        reversed(domain),
        dayOf(now) - KEEP_DAYS,
      );
      if (found !== undefined) return true;
    }
    return false;
  },
);

/** Deletes a slice of forgotten peers. True if there are more. */
export const purgePeers = command('purge-delivery-peers', async (tx, _input: undefined, stamp): Promise<boolean> => {
  const { changes } = await tx.run(
    'DELETE FROM delivery_peer WHERE name IN (SELECT name FROM delivery_peer WHERE day < ? LIMIT ?)',
    dayOf(stamp.now) - KEEP_DAYS,
    SLICE,
  );
  return changes === SLICE;
});
