import type { Field } from '../message/header.ts';
import { readTags } from './tag-list.ts';

/** RFC 8617 4.2.1. */
export const MOST_SETS = 50;
export const ARC_FIELDS = ['arc-authentication-results', 'arc-message-signature', 'arc-seal'] as const;
export type ArcField = (typeof ARC_FIELDS)[number];

/** The three fields of one instance. */
export type ArcSet = Record<ArcField, Field>;

/** The sets of a message in the order in which they were added. A chain with anything too much or missing is broken. */
export type Chain = { kind: 'none' } | { kind: 'broken'; why: string } | { kind: 'sets'; sets: ArcSet[] };

/** Finds the chain of a message and looks at its shape only. RFC 8617 5.2. */
export function readChain(fields: readonly Field[]): Chain {
  const found = fields.filter((field) => isArcField(field.name));
  if (found.length === 0) return { kind: 'none' };
  if (found.length > MOST_SETS * ARC_FIELDS.length) return broken('it is too long');
  const sets = new Map<number, Partial<ArcSet>>();
  for (const field of found) {
    const instance = instanceOf(field.value);
    if (instance === undefined) return broken('a field of it has no number');
    const set = sets.get(instance) ?? {};
    if (set[field.name as ArcField] !== undefined) return broken('a field of it stands twice');
    sets.set(instance, { ...set, [field.name]: field });
  }
  const ordered = Array.from({ length: sets.size }, (_, at) => sets.get(at + 1));
  return ordered.every(isWhole) ? { kind: 'sets', sets: ordered } : broken('a field of it is missing');
}

/** `i=`, which comes first in results and anywhere in the others; undefined for what is no number of a set. */
function instanceOf(value: string): number | undefined {
  const end = value.indexOf(';');
  const tags = readTags(end < 0 ? value : value.slice(0, end)) ?? readTags(value);
  const text = tags?.get('i')?.value ?? readTags(value)?.get('i')?.value ?? '';
  const instance = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  return instance >= 1 && instance <= MOST_SETS ? instance : undefined;
}

function isArcField(name: string): name is ArcField {
  return (ARC_FIELDS as readonly string[]).includes(name);
}

function isWhole(set: Partial<ArcSet> | undefined): set is ArcSet {
  return set !== undefined && ARC_FIELDS.every((name) => set[name] !== undefined);
}

function broken(why: string): Chain {
  return { kind: 'broken', why };
}
