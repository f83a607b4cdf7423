import { type Tag, tagsOf } from './html-tags.ts';
import { type Look, OpenElements, type Unseen } from './open-elements.ts';
import { looksLike } from './style/color.ts';
import { sheetsOf, StyleSheet } from './style/sheet.ts';

const VOID: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);

/** A run of text, character references and comments as they stand, or a tag; and whether a reader sees it. */
export type Piece =
  | { kind: 'text'; text: string; unseen: Unseen }
  /** `begins`: what it opens is hidden, and what is around it is not. */
  | { kind: 'tag'; tag: Tag; unseen: Unseen; begins: boolean };

/** An HTML text piece by piece, with what its styles and those of its elements hide on a screen. One pass, no tree. */
export function* walkHtml(html: string): Generator<Piece> {
  const open = new OpenElements(new StyleSheet(sheetsOf(html), html.length));
  let at = 0;
  for (const tag of tagsOf(html)) {
    const around = open.look;
    if (tag.start > at) yield { kind: 'text', text: html.slice(at, tag.start), unseen: unseenText(around) };
    at = tag.end;
    if (tag.name.startsWith('/')) {
      open.close(tag.name.slice(1));
      yield { kind: 'tag', tag, unseen: around.unseen, begins: false };
      continue;
    }
    const look = VOID.has(tag.name) ? open.pass(tag) : open.begin(tag);
    const begins = unseenText(look) === 'hidden' && unseenText(around) === undefined;
    yield { kind: 'tag', tag, unseen: look.unseen, begins };
  }
  if (at < html.length) yield { kind: 'text', text: html.slice(at), unseen: unseenText(open.look) };
}

/** Text in the color of what is behind it is seen by nobody; what stands in it may have another color. */
function unseenText({ unseen, text, behind }: Look): Unseen {
  if (unseen !== undefined || text === undefined) return unseen;
  return text === 'clear' || (behind !== undefined && looksLike(text, behind)) ? 'hidden' : undefined;
}
