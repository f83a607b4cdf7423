import type { Lookup, TlsaRecord } from '../../mail/dns/lookup.ts';
import type { OpenedTlsKey } from './sealed-keys.ts';

/** Time for which a TLSA record of the next key is published before the key is used: two of its TTLs and more. */
export const OVERLAP_MS = 3_600_000;

/**
 * Chooses the key of a renewal. Where TLSA records exist, a DANE sender refuses every other key: the next key is used only
 * if its record was seen and had time to replace older answers in caches, else the used key stays. RFC 7671 8.1.
 */
export function keyForRenewal(
  keys: readonly OpenedTlsKey[],
  found: Lookup<TlsaRecord>,
  now: number,
): OpenedTlsKey | undefined {
  const next = keys.find(({ state }) => state === 'next');
  const used = keys.find(({ state }) => state === 'used');
  if (used === undefined || next === undefined) return next ?? used;
  switch (found.kind) {
    case 'none':
      return next;
    case 'trouble':
      return used;
    case 'found': {
      const seen = found.records.some((record) => isRecordOf(record, next.spki));
      return seen && now - next.createdAt >= OVERLAP_MS ? next : used;
    }
  }
}

/** True for a record 3 1 1 of this key. RFC 7671 5.1. */
function isRecordOf({ usage, selector, matchingType, data }: TlsaRecord, spki: string): boolean {
  return usage === 3 && selector === 1 && matchingType === 1 && data.toString('hex') === spki;
}
