import { type HtmlTag, tagsOf } from './html-tags.ts';
import { type RenderedLook, OpenElements, type Invisibility } from './open-elements.ts';
import { isIndistinguishable } from './style/color.ts';
import { readStyleSheets, StyleSheet } from './style/sheet.ts';

const VOID: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);

/** A run of raw text or a tag, with its visibility. */
export type HtmlPiece =
  | { kind: 'text'; text: string; unseen: Invisibility }
  /** `begins`: it opens a hidden element inside a visible one. */
  | { kind: 'tag'; tag: HtmlTag; unseen: Invisibility; begins: boolean };

/** Iterates an HTML text with the visibility of each piece by its style sheets and inline styles. One pass, no tree. */
export function* walkHtml(html: string): Generator<HtmlPiece> {
  const open = new OpenElements(new StyleSheet(readStyleSheets(html), html.length));
  let at = 0;
  for (const tag of tagsOf(html)) {
    const around = open.look;
    if (tag.start > at) yield { kind: 'text', text: html.slice(at, tag.start), unseen: textInvisibility(around) };
    at = tag.end;
    if (tag.name.startsWith('/')) {
      open.close(tag.name.slice(1));
      yield { kind: 'tag', tag, unseen: around.invisibility, begins: false };
      continue;
    }
    const look = VOID.has(tag.name) ? open.addVoid(tag) : open.open(tag);
    const begins = textInvisibility(look) === 'hidden' && textInvisibility(around) === undefined;
    yield { kind: 'tag', tag, unseen: look.invisibility, begins };
  }
  if (at < html.length) yield { kind: 'text', text: html.slice(at), unseen: textInvisibility(open.look) };
}

/** Text in the color of its background is hidden; its child elements may have another color. */
function textInvisibility({ invisibility: unseen, text, background: behind }: RenderedLook): Invisibility {
  if (unseen !== undefined || text === undefined) return unseen;
  return text === 'clear' || (behind !== undefined && isIndistinguishable(text, behind)) ? 'hidden' : undefined;
}
