import { DELETED, type FlagSet, SEEN } from './imap-store.ts';

/** One change of flags that rights allow. */
export interface FlagStep {
  how: 'add' | 'remove' | 'replace';
  flags: FlagSet;
}

/** The flags that rights allow to set. RFC 4314 4. */
export function allowedFlags(rights: string, flags: FlagSet): FlagSet {
  const others = rights.includes('w');
  const bits = others ? flags.bits & ~(SEEN | DELETED) : 0;
  return { bits: bits | (flags.bits & seenAndDeleted(rights)), keywords: others ? flags.keywords : [] };
}

function seenAndDeleted(rights: string): number {
  return (rights.includes('s') ? SEEN : 0) | (rights.includes('t') ? DELETED : 0);
}

/**
 * The parts of a STORE that the rights on a mailbox allow: s for \Seen, t for \Deleted, w for the others. Undefined: none
 * of it. RFC 4314 4: the rest is left out without an error.
 */
export function flagSteps(rights: string, how: FlagStep['how'], flags: FlagSet): FlagStep[] | undefined {
  const mask = seenAndDeleted(rights);
  const others = rights.includes('w');
  if (others && mask === (SEEN | DELETED)) return [{ how, flags }];
  const kept = allowedFlags(rights, flags);
  if (how !== 'replace') return kept.bits === 0 && kept.keywords.length === 0 ? undefined : [{ how, flags: kept }];
  // Replacing all flags would take away those that the login may not change.
  if (others || mask === 0) return undefined;
  return [
    { how: 'add', flags: { bits: flags.bits & mask, keywords: [] } },
    { how: 'remove', flags: { bits: mask & ~flags.bits, keywords: [] } },
  ];
}
