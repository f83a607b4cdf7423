import { guessLatin1 } from '../../message/decode.ts';
import { readStructure, type StructureNode } from '../../message/stored-structure.ts';
import { type Part, unpackParts } from '../../message/parts.ts';

/** One part of a message's own body; what is inside an attached message is not part of it. */
export interface BodyPart {
  part: Part;
  /** `text/plain`, in lower case. */
  type: string;
  charset: string | null;
  disposition: string | null;
  name: string | null;
  cid: string | null;
  language: string[] | null;
  location: string | null;
  /** Null: no multipart. */
  subParts: BodyPart[] | null;
}

/** The body of a message from what was written down of it when it came. RFC 8621 4.1.4. */
export function bodyTree(stored: { bodyStructure: string; parts: string }): BodyPart {
  const byPath = new Map(unpackParts(stored.parts).map((part) => [part.path, part]));
  return toBodyPart(readStructure(stored.bodyStructure), byPath);
}

function toBodyPart(node: StructureNode, byPath: ReadonlyMap<string, Part>): BodyPart {
  const part = byPath.get(node.path);
  if (part === undefined) throw new Error(`the part table has no part ${node.path}`);
  const implied = part.type === 'text' ? 'us-ascii' : null;
  return {
    part,
    type: `${part.type}/${part.subtype}`,
    charset: node.charset ?? (part.charset === '' ? implied : part.charset),
    disposition: part.disposition === '' ? null : part.disposition,
    name: part.filename === '' ? null : part.filename,
    cid: part.contentId === '' ? null : guessLatin1(part.contentId).trim(),
    language: node.language ?? null,
    location: node.location ?? null,
    subParts: node.children?.map((child) => toBodyPart(child, byPath)) ?? null,
  };
}

/** The part and all inside of it, in their order. */
export function flatParts(root: BodyPart): BodyPart[] {
  return [root, ...(root.subParts ?? []).flatMap(flatParts)];
}
