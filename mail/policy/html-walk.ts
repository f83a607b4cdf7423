import { type Tag, tagsOf } from './html-tags.ts';
import { BLACK, type Color, looksLike, readColor, WHITE } from './style/color.ts';
import { colorsOf, declarationsOf, hides } from './style/declarations.ts';
import { Around } from './style/around.ts';
import { type Element, elementOf } from './style/selector.ts';
import { sheetsOf, StyleSheet } from './style/sheet.ts';

const VOID: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);
const UNREAD: ReadonlySet<string> = new Set(
  'datalist iframe noembed noframes noscript script style template title'.split(' '),
);
/** Elements inside each other that are kept track of: browsers stop at 512. */
const DEEPEST = 1000;
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

const BODY: Tag = { name: 'body', attributes: new Map(), isCut: false, start: 0, end: 0 };
const PAGE: Look = { unseen: undefined, text: BLACK, behind: WHITE };
const LOST: Look = { ...PAGE, unseen: 'hidden' };

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
    const look = VOID.has(tag.name) ? open.lookOf(tag, elementOf(tag)) : open.begin(tag);
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

/** What is often left open, by what begins behind it and closes it. */
const CLOSES: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...'p div ul ol h1 h2 h3 h4 blockquote pre'.split(' ').map((name) => [name, ['p']] as const),
  ['li', ['li']],
  ['td', ['td', 'th']],
  ['th', ['td', 'th']],
  ['tr', ['td', 'th', 'tr']],
]);

/** The elements that are open, the outermost first. A tag costs the same however many there are. */
class OpenElements {
  readonly #sheet: StyleSheet;
  readonly #looks: Look[] = [];
  readonly #around = new Around();
  /** There were too many: nobody here knows any more what is inside of what, so nothing is shown. */
  #isLost = false;

  constructor(sheet: StyleSheet) {
    this.#sheet = sheet;
    const page = elementOf(BODY);
    // Written or not, it is there, and styles speak of it.
    this.#push(page, this.lookOf(BODY, page));
  }

  /** Of the innermost. */
  get look(): Look {
    return this.#isLost ? LOST : (this.#looks.at(-1) ?? PAGE);
  }

  begin(tag: Tag): Look {
    while (CLOSES.get(tag.name)?.includes(this.#last) === true) this.#pop();
    this.#isLost ||= this.#looks.length >= DEEPEST;
    const element = elementOf(tag);
    const look = this.lookOf(tag, element);
    if (this.#looks.length < DEEPEST) this.#push(element, look);
    return look;
  }

  close(name: string): void {
    // The page itself is closed by nothing.
    if (this.#around.count(name) < (name === BODY.name ? 2 : 1)) return;
    while (this.#last !== name) this.#pop();
    this.#pop();
  }

  lookOf(tag: Tag, element: Element): Look {
    const { unseen, text, behind } = this.look;
    if (UNREAD.has(tag.name)) return { unseen: 'unread', text, behind };
    if (unseen !== undefined) return this.look;
    const own = declarationsOf(tag.attributes.get('style') ?? '');
    const style = this.#sheet.styleOf(element, this.#around, own);
    const hidden = tag.attributes.has('hidden') || hides(style) || tag.isCut || this.#sheet.isSpent;
    const colors = colorsOf(style, tag.attributes);
    return {
      unseen: hidden ? 'hidden' : undefined,
      text: colors.text === undefined || colors.text === 'inherit' ? text : readColor(colors.text),
      behind: colors.behind === undefined ? behind : over(behind, readColor(colors.behind)),
    };
  }

  get #last(): string {
    return this.#around.elements.at(-1)?.name ?? '';
  }

  #push(element: Element, look: Look): void {
    this.#around.push(element);
    this.#looks.push(look);
  }

  #pop(): void {
    this.#around.pop();
    this.#looks.pop();
  }
}

/** A clear background lets through what is behind it. */
function over(behind: Color | undefined, color: ReturnType<typeof readColor>): Color | undefined {
  return color === 'clear' ? behind : color;
}
