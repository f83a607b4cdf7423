import { type AttachedFile, nextFileKey } from './attached-file.ts';
import { markupOf, mediaParts } from './body-parts.ts';
import { cleanMarkup, prepareEditor } from './editor-html.ts';
import type { FullEmail, MessagePart } from './jmap-types.ts';
import { blobOf } from './jmap.ts';
import { parserWindow } from './safe-html.ts';

const IMAGE = /^image\/(?:png|jpeg|gif|webp|bmp)$/;
/** Images of a quoted message that are loaded. */
const MAX_IMAGES = 30;

/** Formatted text of a received message for the editor, and the files that it shows. */
export interface QuotedMarkup {
  markup: string;
  images: AttachedFile[];
}

/** Cleans the formatted text of a message; images that are parts of it are kept, images of other servers are not. */
export async function quotedMarkup(email: FullEmail): Promise<QuotedMarkup> {
  await prepareEditor();
  const frame = (await parserWindow()) as Window & typeof globalThis;
  // An inert document: nothing of it runs or loads.
  const parsed = new frame.DOMParser().parseFromString(markupOf(email), 'text/html');
  const files = [...mediaParts(email), ...email.attachments];
  const images: AttachedFile[] = [];
  for (const image of [...parsed.querySelectorAll('img')].slice(0, MAX_IMAGES)) {
    const cid = /^cid:(.{1,500})$/i.exec(image.getAttribute('src') ?? '')?.[1];
    const part = files.find((one) => one.cid === cid && IMAGE.test(one.type));
    if (cid === undefined || part === undefined) continue;
    const file = await imageOf(part, cid, image);
    if (file !== undefined) images.push(file);
  }
  // It stays in the inert document: an image that was moved to a live one would load.
  const holder = parsed.createElement('div');
  holder.append(cleanMarkup(parsed.body.innerHTML));
  return { markup: holder.innerHTML, images };
}

async function imageOf(part: MessagePart, cid: string, image: HTMLImageElement): Promise<AttachedFile | undefined> {
  const { blobId, name, type, size } = part;
  const blob = blobId === null ? undefined : await blobOf(blobId, type).catch(() => undefined);
  if (blobId === null || blob === undefined) return undefined;
  image.setAttribute('src', URL.createObjectURL(blob));
  image.setAttribute('data-cid', cid);
  return { key: nextFileKey(), name: name ?? 'image', type, size, blobId, done: 1, cid };
}
