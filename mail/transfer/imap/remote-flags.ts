import { ANSWERED, DELETED, DRAFT, FLAGGED, type NamedFlags, SEEN } from '../../store/mailbox/flags.ts';
import { keywordsOf } from '../mbox-fields.ts';

const SYSTEM: readonly [string, number][] = [
  ['\\seen', SEEN],
  ['\\answered', ANSWERED],
  ['\\flagged', FLAGGED],
  ['\\draft', DRAFT],
  ['\\deleted', DELETED],
];

/** Flags of another server as this one has them: \Recent and unknown system flags are left out. */
export function remoteFlags(names: Iterable<string>): NamedFlags {
  let bits = 0;
  const words: string[] = [];
  for (const name of names) {
    const bit = SYSTEM.find(([one]) => one === name.toLowerCase())?.[1];
    if (bit !== undefined) bits |= bit;
    else if (!name.startsWith('\\')) words.push(name);
  }
  return { bits, keywords: keywordsOf(words) };
}

/** Flags as one text, equal for equal flags. */
export function flagText({ bits, keywords }: NamedFlags): string {
  const system = SYSTEM.filter(([, bit]) => (bits & bit) !== 0).map(([name]) => name);
  return [...system, ...keywords.map((word) => word.toLowerCase())].toSorted().join(' ');
}
