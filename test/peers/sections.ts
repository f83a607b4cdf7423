import type { Value } from './raw-imap.ts';

/** Names of all sections of a message by its BODYSTRUCTURE: parts, and what is inside of attached messages. RFC 9051 6.4.5.1. */
export function sectionsOf(structure: Value): string[] {
  const names = ['HEADER', 'TEXT', 'HEADER.FIELDS (FROM SUBJECT)', 'HEADER.FIELDS.NOT (FROM SUBJECT)'];
  return [...names, ...partsBelow(structure, '')];
}

/** A structure that is no multipart is the part 1 of its message. */
function partsBelow(structure: Value, prefix: string): string[] {
  if (!Array.isArray(structure)) return [];
  const children = Array.isArray(structure[0])
    ? structure.filter((one): one is Value[] => Array.isArray(one) && isBody(one))
    : [structure];
  return children.flatMap((child, at) => sectionsOfPart(child, `${prefix}${at + 1}`));
}

function sectionsOfPart(part: Value[], path: string): string[] {
  const own = [path, `${path}.MIME`];
  if (Array.isArray(part[0])) return [...own, ...partsBelow(part, `${path}.`)];
  if (textOf(part[0]) !== 'message' || textOf(part[1]) !== 'rfc822') return own;
  return [...own, `${path}.HEADER`, `${path}.TEXT`, ...partsBelow(part[8] ?? null, `${path}.`)];
}

/** Parameters and dispositions are lists too, but begin with no list and have no encoding. */
function isBody(list: Value[]): boolean {
  return Array.isArray(list[0]) || (list.length >= 7 && textOf(list[5]) !== undefined);
}

function textOf(value: Value | undefined): string | undefined {
  return typeof value === 'object' && value !== null && 'text' in value ? value.text.toLowerCase() : undefined;
}
