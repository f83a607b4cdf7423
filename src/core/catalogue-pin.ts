import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Operation } from './operation.ts';

/** The digest of each tool by its name. */
export type Digests = Readonly<Record<string, string>>;

export interface CatalogueChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

let known: Digests | undefined;

/** Returns the digests of this version, as written by `npm run docs`, without loading the catalogue. */
export function pinnedTools(): Digests {
  known ??= JSON.parse(readFileSync(new URL('./catalogue.json', import.meta.url), 'utf8')) as Digests;
  return known;
}

/**
 * Returns SHA-256 in hexadecimal over a line `name digest` for each tool in order of name. A digest is the SHA-256 of
 * the tool as in tools/list, as JSON without spaces. Leaves out tools that only the operator is listed.
 */
export function catalogueSha256(digests: Digests = pinnedTools()): string {
  const lines = Object.keys(digests)
    .toSorted()
    .map((name) => `${name} ${digests[name]}\n`);
  return sha256(lines.join(''));
}

/** Computes the digests of the current tools. `toolOf` returns the listed form. */
export function digestsOf(catalogue: readonly Operation[], toolOf: (one: Operation) => object): Digests {
  const listed = catalogue.filter((one) => one.operatorOnly !== true);
  const named = listed.map((one) => [one.name, sha256(JSON.stringify(toolOf(one)))] as const);
  return Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Compares two sets of digests; undefined if they are equal. */
export function changeOf(before: Digests, after: Digests): CatalogueChange | undefined {
  const change = {
    added: Object.keys(after).filter((name) => before[name] === undefined),
    removed: Object.keys(before).filter((name) => after[name] === undefined),
    changed: Object.keys(after).filter((name) => before[name] !== undefined && before[name] !== after[name]),
  };
  return Object.values(change).every((names) => names.length === 0) ? undefined : change;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
