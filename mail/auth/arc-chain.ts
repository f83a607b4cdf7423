import type { Field } from '../message/header.ts';
import { readTags } from './tag-list.ts';

/** Instances in one ARC chain. RFC 8617 4.2.1. */
export const MAX_ARC_SETS = 50;
export const ARC_FIELDS = ['arc-authentication-results', 'arc-message-signature', 'arc-seal'] as const;
export type ArcField = (typeof ARC_FIELDS)[number];

/** The three header fields of one ARC instance. */
export type ArcSet = Record<ArcField, Field>;

/** The ARC sets of a message, oldest first. Extra or missing fields break the chain. */
export type ArcChain = { kind: 'none' } | { kind: 'broken'; why: string } | { kind: 'sets'; sets: ArcSet[] };

/** Reads the ARC sets of a message and checks their structure; no signature is verified. RFC 8617 5.2. */
export function readArcChain(fields: readonly Field[]): ArcChain {
  const found = fields.filter((field) => isArcField(field.name));
  if (found.length === 0) return { kind: 'none' };
  if (found.length > MAX_ARC_SETS * ARC_FIELDS.length) return broken('the ARC chain is too long');
  const sets = new Map<number, Partial<ArcSet>>();
  for (const field of found) {
    const instance = instanceOf(field.value);
    if (instance === undefined) return broken('an ARC field has no instance number');
    const set = sets.get(instance) ?? {};
    if (set[field.name as ArcField] !== undefined) return broken('an ARC field occurs twice');
    sets.set(instance, { ...set, [field.name]: field });
  }
  const ordered = Array.from({ length: sets.size }, (_, at) => sets.get(at + 1));
  return ordered.every(isWhole) ? { kind: 'sets', sets: ordered } : broken('an ARC field is missing');
}

/** Reads `i=`: the first tag in ARC-Authentication-Results, any tag in the others. Undefined unless it is 1 to 50. */
function instanceOf(value: string): number | undefined {
  const end = value.indexOf(';');
  const tags = readTags(end < 0 ? value : value.slice(0, end)) ?? readTags(value);
  const text = tags?.get('i')?.value ?? readTags(value)?.get('i')?.value ?? '';
  const instance = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  return instance >= 1 && instance <= MAX_ARC_SETS ? instance : undefined;
}

function isArcField(name: string): name is ArcField {
  return (ARC_FIELDS as readonly string[]).includes(name);
}

function isWhole(set: Partial<ArcSet> | undefined): set is ArcSet {
  return set !== undefined && ARC_FIELDS.every((name) => set[name] !== undefined);
}

function broken(why: string): ArcChain {
  return { kind: 'broken', why };
}
