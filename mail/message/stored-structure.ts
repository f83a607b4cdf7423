import { decodeWords } from './encoded-word.ts';
import { readWire, type WireValue } from './wire-value.ts';

/** Part properties that are only in BODYSTRUCTURE, not in the part table. */
export interface StructureNode {
  /** As in the part table. */
  path: string;
  /** Undefined: no such parameter. */
  charset: string | undefined;
  language: string[] | undefined;
  location: string | undefined;
  /** Children of a multipart; attached messages are not parsed. */
  children: StructureNode[] | undefined;
}

/** Parses the output of body-structure.ts. RFC 3501 7.4.2. */
export function readStructure(bodyStructure: string): StructureNode {
  const root = asList(readWire(bodyStructure));
  return Array.isArray(root[0]) ? toNode(root, '') : toNode(root, '1');
}

// Recursion is bounded by LIMITS.depth.
function toNode(wire: readonly WireValue[], path: string): StructureNode {
  const subtype = wire.findIndex((one) => !Array.isArray(one));
  if (subtype > 0) {
    const joint = path === '' ? '' : `${path}.`;
    const children = wire.slice(0, subtype).map((one, i) => toNode(asList(one), `${joint}${i + 1}`));
    return { path, ...extension(wire, subtype + 1), children };
  }
  return { path, ...extension(wire, 2), children: undefined };
}

/** Reads language and location at the end of the list, and parameters at index `params`. */
function extension(wire: readonly WireValue[], params: number): Omit<StructureNode, 'path' | 'children'> {
  const location = wire.at(-1);
  return {
    charset: charsetOf(asList(wire[params])),
    language: languageOf(wire.at(-2)),
    location: typeof location === 'string' ? decodeWords(location) : undefined,
  };
}

function charsetOf(params: readonly WireValue[]): string | undefined {
  for (let i = 0; i + 1 < params.length; i += 2) {
    const value = params[i + 1];
    if (params[i] === 'charset' && typeof value === 'string') return value;
  }
  return undefined;
}

function languageOf(value: WireValue | undefined): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? [value] : value.filter((one) => typeof one === 'string');
}

function asList(value: WireValue | undefined): readonly WireValue[] {
  return value === undefined || value === null || typeof value === 'string' ? [] : value;
}
