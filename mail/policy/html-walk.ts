import { type Tag, tagsOf } from './html-tags.ts';
import { BLACK, type Color, looksLike, readColor, WHITE } from './style/color.ts';
import { colorsOf, declarationsOf, hides } from './style/declarations.ts';
import { type Element, elementOf } from './style/selector.ts';
import { sheetsOf, StyleSheet } from './style/sheet.ts';

const VOID: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);
const UNREAD: ReadonlySet<string> = new Set(
  'datalist iframe noembed noframes noscript script style template title'.split(' '),
);
/** Elements inside each other that are kept track of. */
const DEEPEST = 200;
/** `hidden`: by a style; `unread`: programs show it nowhere, as styles and scripts. */
export type Unseen = 'hidden' | 'unread' | undefined;

/** A run of text, character references and comments as they stand, or a tag; and whether a reader sees it. */
export type Piece =
  | { kind: 'text'; text: string; unseen: Unseen }
  /** `begins`: what it opens is hidden, and what is around it is not. */
  | { kind: 'tag'; tag: Tag; unseen: Unseen; begins: boolean };

/** How an element looks, with what it has from those around it. */
interface Look {
  unseen: Unseen;
  /** Of its text, and of what is behind it; undefined: nobody here knows. */
  text: Color | 'clear' | undefined;
  behind: Color | undefined;
}

const BODY: Tag = { name: 'body', attributes: new Map(), start: 0, end: 0 };
const PAGE: Look = { unseen: undefined, text: BLACK, behind: WHITE };

interface Open extends Look {
  element: Element;
}

/** An HTML text piece by piece, with what its styles and those of its elements hide on a screen. One pass, no tree. */
export function* walkHtml(html: string): Generator<Piece> {
  const sheet = new StyleSheet(sheetsOf(html));
  // Written or not, it is there, and styles speak of it.
  const page = { ...lookOf(BODY, [], sheet), element: elementOf(BODY) };
  const open: Open[] = [page];
  let at = 0;
  for (const tag of tagsOf(html)) {
    const around = open.at(-1) ?? page;
    if (tag.start > at) yield { kind: 'text', text: html.slice(at, tag.start), unseen: unseenText(around) };
    at = tag.end;
    if (tag.name.startsWith('/')) {
      close(open, tag.name.slice(1));
      yield { kind: 'tag', tag, unseen: around.unseen, begins: false };
      continue;
    }
    const look = VOID.has(tag.name) ? lookOf(tag, open, sheet) : begin(open, tag, sheet);
    const begins = unseenText(look) === 'hidden' && unseenText(around) === undefined;
    yield { kind: 'tag', tag, unseen: look.unseen, begins };
  }
  if (at < html.length) yield { kind: 'text', text: html.slice(at), unseen: unseenText(open.at(-1) ?? page) };
}

/** Text in the color of what is behind it is seen by nobody; what stands in it may have another color. */
function unseenText({ unseen, text, behind }: Look): Unseen {
  if (unseen !== undefined || text === undefined) return unseen;
  return text === 'clear' || (behind !== undefined && looksLike(text, behind)) ? 'hidden' : undefined;
}

function begin(open: Open[], tag: Tag, sheet: StyleSheet): Look {
  // Often left open: the next one closes them.
  const last = open.at(-1)?.element.name ?? '';
  if ((last === 'p' && BLOCKS.has(tag.name)) || (last === tag.name && UNCLOSED.has(last))) open.pop();
  const look = lookOf(tag, open, sheet);
  if (open.length < DEEPEST) open.push({ ...look, element: elementOf(tag) });
  return open.at(-1) ?? look;
}

const UNCLOSED: ReadonlySet<string> = new Set(['li', 'td', 'tr']);
const BLOCKS: ReadonlySet<string> = new Set(['p', 'div', 'ul', 'ol', 'h1', 'h2', 'h3', 'h4', 'blockquote', 'pre']);

function close(open: Open[], name: string): void {
  const at = open.findLastIndex(({ element }) => element.name === name);
  if (at > 0) open.length = at;
}

function lookOf(tag: Tag, open: readonly Open[], sheet: StyleSheet): Look {
  const { unseen, text, behind } = open.at(-1) ?? PAGE;
  if (UNREAD.has(tag.name)) return { unseen: 'unread', text, behind };
  if (unseen !== undefined) return { unseen, text, behind };
  const own = declarationsOf(tag.attributes.get('style') ?? '');
  const around = open.map(({ element }) => element);
  const style = sheet.styleOf(elementOf(tag), around, own);
  const hidden = tag.attributes.has('hidden') || hides(style) || sheet.isSpent;
  const colors = colorsOf(style, tag.attributes);
  return {
    unseen: hidden ? 'hidden' : undefined,
    text: colors.text === undefined || colors.text === 'inherit' ? text : readColor(colors.text),
    behind: colors.behind === undefined ? behind : over(behind, readColor(colors.behind)),
  };
}

/** A clear background lets through what is behind it. */
function over(behind: Color | undefined, color: ReturnType<typeof readColor>): Color | undefined {
  return color === 'clear' ? behind : color;
}
