import type { BodyPart } from './body-part.ts';

/** The flat views of a body. RFC 8621 4.1.4. */
export interface BodyLists {
  textBody: BodyPart[];
  htmlBody: BodyPart[];
  attachments: BodyPart[];
}

/** Where parts go at some place of the tree. Null: here they are an alternative that this view does not show. */
interface Views {
  text: BodyPart[] | null;
  html: BodyPart[] | null;
  attachments: BodyPart[];
}

/**
 * Takes the tree apart by the algorithm that RFC 8621 4.1.4 suggests. Where that one would lose a part, because neither
 * view wants it, it is an attachment: so every leaf is in some list.
 */
export function bodyLists(root: BodyPart): BodyLists {
  const lists: BodyLists = { textBody: [], htmlBody: [], attachments: [] };
  sort([root], 'mixed', false, { text: lists.textBody, html: lists.htmlBody, attachments: lists.attachments });
  return lists;
}

function sort(parts: readonly BodyPart[], kind: string, alternative: boolean, views: Views): void {
  const before = { text: views.text?.length, html: views.html?.length };
  // What is decided here about the views holds for the rest of this multipart only.
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

/** A part of the body itself, not something beside it. */
function isShown(part: BodyPart, index: number, kind: string): boolean {
  if (part.disposition === 'attachment') return false;
  const text = part.type === 'text/plain' || part.type === 'text/html';
  if (!text && !isMedia(part)) return false;
  // Only the first part of a multipart/related is its text; elsewhere a text with a file name is a file.
  return index === 0 || (kind !== 'related' && (isMedia(part) || part.name === null));
}

function isMedia({ part: { type } }: BodyPart): boolean {
  return type === 'image' || type === 'audio' || type === 'video';
}

/** One of several forms of the same. */
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

/** An alternative that has one form only is shown in both views. */
function shareLone(text: BodyPart[], texts: number, html: BodyPart[], htmls: number): void {
  if (text.length === texts) text.push(...html.slice(htmls));
  else if (html.length === htmls) html.push(...text.slice(texts));
}
