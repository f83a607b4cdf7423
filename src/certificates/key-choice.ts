import type { Lookup, TlsaRecord } from '../../mail/dns/lookup.ts';
import type { OpenedTlsKey } from './sealed-keys.ts';

/** Shortest time for which a TLSA record of the next key is seen before the key is used. */
export const OVERLAP_MS = 3_600_000;

/** Time after which no cache has TLSA records without the next key. RFC 7671 8.1: two TTLs. */
export const overlapOf = (ttl: number): number => Math.max(OVERLAP_MS, 2 * ttl);

/**
 * Chooses the key of a renewal. Where TLSA records exist, a DANE sender refuses every other key: the next key is used only
 * if its record is there and was seen for so long that caches have replaced older answers, else the used key stays.
 * RFC 7671 8.1.
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
      const isThere = found.records.some((record) => isRecordOf(record, next.spki));
      return isThere && next.seenAt !== null && now - next.seenAt >= overlapOf(next.seenTtl ?? 0) ? next : used;
    }
  }
}

/** True for a record 3 1 1 of this key. RFC 7671 5.1. */
export function isRecordOf({ usage, selector, matchingType, data }: TlsaRecord, spki: string): boolean {
  return usage === 3 && selector === 1 && matchingType === 1 && data.toString('hex') === spki;
}
