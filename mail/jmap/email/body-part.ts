import { guessLatin1 } from '../../message/decode.ts';
import { type Part, unpackParts } from '../../message/parts.ts';
import { readStructure, type StructureNode } from '../../message/stored-structure.ts';

/** A body part of a message; parts of an attached message are not included. */
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
  /** Null unless it is a multipart. */
  subParts: BodyPart[] | null;
}

/** Builds the part tree from the structure stored at delivery. RFC 8621 4.1.4. */
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

/** The part and all nested parts, in order. */
export function flatParts(root: BodyPart): BodyPart[] {
  return [root, ...(root.subParts ?? []).flatMap(flatParts)];
}

/** The flat part lists of an Email. RFC 8621 4.1.4. */
export interface BodyLists {
  textBody: BodyPart[];
  htmlBody: BodyPart[];
  attachments: BodyPart[];
}

/** Target lists at one level of the tree; null where the part is an alternative that the list omits. */
interface Views {
  text: BodyPart[] | null;
  html: BodyPart[] | null;
  attachments: BodyPart[];
}

/**
 * Splits the tree by the algorithm that RFC 8621 4.1.4 suggests. A part that neither list takes becomes an attachment, so
 * that every leaf is in a list.
 */
export function bodyLists(root: BodyPart): BodyLists {
  const lists: BodyLists = { textBody: [], htmlBody: [], attachments: [] };
  sort([root], 'mixed', false, { text: lists.textBody, html: lists.htmlBody, attachments: lists.attachments });
  return lists;
}

function sort(parts: readonly BodyPart[], kind: string, alternative: boolean, views: Views): void {
  const before = { text: views.text?.length, html: views.html?.length };
  // Changes to the lists apply to the rest of this multipart only.
  const here = { ...views };
  for (const [i, part] of parts.entries()) {
    if (part.subParts !== null) {
      sort(part.subParts, part.part.subtype, alternative || part.part.subtype === 'alternative', here);
    } else if (!isShown(part, i, kind)) here.attachments.push(part);
    else if (kind === 'alternative') choose(part, here);
    else show(part, alternative, here);
  }
  if (kind === 'alternative' && here.text !== null && here.html !== null) {
    shareLone(here.text, before.text ?? 0, here.html, before.html ?? 0);
  }
}

/** Checks that a part belongs to the body and is not an attachment. */
function isShown(part: BodyPart, index: number, kind: string): boolean {
  if (part.disposition === 'attachment') return false;
  const text = part.type === 'text/plain' || part.type === 'text/html';
  if (!text && !isMedia(part)) return false;
  // Only the first part of multipart/related is body text; elsewhere a text with a file name is an attachment.
  return index === 0 || (kind !== 'related' && (isMedia(part) || part.name === null));
}

function isMedia({ part: { type } }: BodyPart): boolean {
  return type === 'image' || type === 'audio' || type === 'video';
}

/** Adds one form of a multipart/alternative. */
function choose(part: BodyPart, { text, html, attachments }: Views): void {
  const view = part.type === 'text/plain' ? text : part.type === 'text/html' ? html : null;
  (view ?? attachments).push(part);
}

function show(part: BodyPart, alternative: boolean, views: Views): void {
  if (alternative && part.type === 'text/plain') views.html = null;
  if (alternative && part.type === 'text/html') views.text = null;
  views.text?.push(part);
  views.html?.push(part);
  const both = views.text !== null && views.html !== null;
  const neither = views.text === null && views.html === null;
  if (neither || (!both && isMedia(part))) views.attachments.push(part);
}

/** Adds the only form of an alternative to both lists. */
function shareLone(text: BodyPart[], texts: number, html: BodyPart[], htmls: number): void {
  if (text.length === texts) text.push(...html.slice(htmls));
  else if (html.length === htmls) html.push(...text.slice(texts));
}
