import type { Store } from '../../mail/store/engine/types.ts';
import { manualDrift, recordDrift } from './drift-commands.ts';
import type { DnsSnapshot } from './look.ts';

type SeenRecords = DnsSnapshot['seen'];

/**
 * Lists records that were right in the check before, or were lost then, and are missing or have other values now. A record
 * that was never right is no loss; a lookup without an answer changes nothing.
 */
export function lostRecords(before: SeenRecords, now: SeenRecords, lost: readonly string[]): string[] {
  return Object.entries(now).flatMap(([key, { status }]) => {
    const wasLost = lost.includes(key);
    if (status === 'ok' || (status === 'unknown' && !wasLost)) return [];
    return wasLost || before[key]?.status === 'ok' ? [key] : [];
  });
}

/** Stores what a domain lost whose records are published by hand; its owners get a letter about it. */
export async function watchRecords(store: Store, domain: number, before: SeenRecords, now: SeenRecords): Promise<void> {
  const known = await store.read(manualDrift, { domain });
  if (known === undefined) return;
  const records = lostRecords(before, now, known);
  if (JSON.stringify(records) !== JSON.stringify(known)) await store.write(recordDrift, { domain, records });
}
