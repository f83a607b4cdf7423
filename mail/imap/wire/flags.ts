import { ANSWERED, DELETED, DRAFT, FLAGGED, SEEN, type FlagSet } from '../imap-store.ts';

/** System flags by lower-case name. \Recent is accepted and ignored. */
const SYSTEM: Readonly<Record<string, number>> = {
  '\\seen': SEEN,
  '\\answered': ANSWERED,
  '\\flagged': FLAGGED,
  '\\draft': DRAFT,
  '\\deleted': DELETED,
  '\\recent': 0,
};

/** The flags as bits and keywords (each once, without regard to case, first spelling), or undefined for an unknown `\Flag`. */
export function flagSet(names: readonly string[]): FlagSet | undefined {
  let bits = 0;
  const keywords = new Map<string, string>();
  for (const name of names) {
    const folded = name.toLowerCase();
    if (!name.startsWith('\\')) {
      if (!keywords.has(folded)) keywords.set(folded, name);
      continue;
    }
    const bit = SYSTEM[folded];
    if (bit === undefined) return undefined;
    bits |= bit;
  }
  return { bits, keywords: [...keywords.values()] };
}
