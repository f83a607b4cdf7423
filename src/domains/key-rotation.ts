import type { Log } from '../../mail/log.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import { lookup, type Store } from '../../mail/store/engine/types.ts';
import { addKeys } from './commands.ts';
import { freeSelectors, makeKeys } from './domains.ts';
import { publishedKeys } from './queries.ts';

export interface RotationContext {
  store: Store;
  secrets: SecretBox;
  clock: () => number;
  log: Log;
}

/** Age at which a signing key gets a successor. M3AAWG advises twice a year. */
const MAX_AGE_MS = 180 * 24 * 3_600_000;

const newestKey = lookup('newest-dkim-key', async (rx, input: { domain: number }): Promise<number | undefined> => {
  const row = await rx.get<{ at: number | null }>(
    'SELECT max(created_at) AS at FROM dkim_key WHERE domain_id = ?',
    input.domain,
  );
  return row?.at ?? undefined;
});

/**
 * Adds successors of old DKIM keys under the free selectors. They sign once their records were seen, and the old ones stay
 * published for a week: mail verifies throughout. Only for domains whose records need no action of a person.
 */
export async function addDueKeys(
  { store, secrets, clock, log }: RotationContext,
  { id, name }: { id: number; name: string },
): Promise<void> {
  const newest = await store.read(newestKey, { domain: id });
  if (newest === undefined || clock() - newest < MAX_AGE_MS) return;
  const keys = await store.read(publishedKeys, { domain: id });
  if (keys.some(({ state }) => state !== 'signs')) return;
  const free = freeSelectors(keys);
  if (free.length === 0) return;
  const { selectors } = await store.write(addKeys, { domain: id, keys: await makeKeys(secrets, id, free), sign: 0 });
  log.info({ domain: name, selectors }, 'DKIM keys rotated');
}
