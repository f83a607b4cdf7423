import { endedBy, endsAt, goOn, needsTable } from './html-nesting.ts';
import type { Tag } from './html-tags.ts';
import { Around } from './style/around.ts';
import { BLACK, type Color, readColor, WHITE } from './style/color.ts';
import { colorsOf, declarationsOf, hides } from './style/declarations.ts';
import { type Element, elementOf } from './style/selector.ts';
import type { StyleSheet } from './style/sheet.ts';

const UNREAD: ReadonlySet<string> = new Set(
  'audio canvas datalist iframe noembed noframes noscript script style template title video'.split(' '),
);
/** Elements inside each other that are kept track of: browsers stop at 512. */
const DEEPEST = 1000;
/** Comparisons that are as much work as one element that goes on behind the end of another. */
const GOING_ON = 40;
/** Elements that are looked at for the one that ends, and are as much work as one comparison. */
const LOOKED_AT = 8;

/** `hidden`: by a style; `unread`: programs show it nowhere, as styles and scripts. */
export type Unseen = 'hidden' | 'unread' | undefined;

/** How an element looks, with what it has from those around it. */
export interface Look {
  unseen: Unseen;
  /** Of its text, and of what is behind it; undefined: nobody here knows. */
  text: Color | 'clear' | undefined;
  behind: Color | undefined;
}

interface Open {
  name: string;
  tag: Tag;
  look: Look;
}

const BODY: Tag = { name: 'body', attributes: new Map(), isCut: false, start: 0, end: 0 };
const PAGE: Look = { unseen: undefined, text: BLACK, behind: WHITE };
const LOST: Look = { ...PAGE, unseen: 'hidden' };

/** The elements that are open, the outermost first, as browsers have them where tags are left out or cross. */
export class OpenElements {
  readonly #sheet: StyleSheet;
  readonly #open: Open[] = [];
  readonly #around = new Around();
  /** There were too many: nobody here knows any more what is inside of what, so nothing is shown. */
  #isLost = false;

  constructor(sheet: StyleSheet) {
    this.#sheet = sheet;
    // Written or not, it is there, and styles speak of it.
    this.#push(BODY);
  }

  /** Of the innermost. */
  get look(): Look {
    return this.#isLost ? LOST : (this.#open.at(-1)?.look ?? PAGE);
  }

  /** An element that holds nothing. */
  pass(tag: Tag): Look {
    this.#endBefore(tag);
    return this.#lookOf(tag);
  }

  begin(tag: Tag): Look {
    this.#endBefore(tag);
    if (needsTable(tag.name) && this.#around.count('table') === 0) return this.look;
    this.#isLost ||= this.#open.length >= DEEPEST;
    return this.#isLost ? LOST : this.#push(tag);
  }

  /** `by`: what begins and has it end. */
  close(name: string, by?: string): void {
    // Nothing is shown any more, so nothing has to be looked for.
    this.#isLost ||= this.#sheet.isSpent;
    if (this.#isLost || this.#around.count(name) === 0) return;
    const at = endsAt(this.#open, name, by);
    this.#sheet.compared(Math.floor((this.#open.length - Math.max(0, at)) / LOOKED_AT));
    if (at < 0) return;
    const further = goOn(name, this.#open.slice(at + 1));
    while (this.#open.length > at) this.#pop();
    this.#sheet.compared(GOING_ON * further.length);
    for (const { tag } of further) this.#push(tag);
  }

  #endBefore({ name }: Tag): void {
    for (const one of endedBy(name)) this.close(one, name);
  }

  #lookOf(tag: Tag, element: Element = elementOf(tag)): Look {
    const { unseen, text, behind } = this.look;
    if (UNREAD.has(tag.name)) return { unseen: 'unread', text, behind };
    if (unseen !== undefined) return this.look;
    const own = declarationsOf(tag.attributes.get('style') ?? '');
    const style = this.#sheet.styleOf(element, this.#around, own);
    const hidden = isClosed(tag) || hides(style) || tag.isCut || this.#sheet.isSpent;
    const colors = colorsOf(style, tag);
    return {
      unseen: hidden ? 'hidden' : undefined,
      text: colors.text === undefined || colors.text === 'inherit' ? text : readColor(colors.text),
      behind: colors.behind === undefined ? behind : over(behind, readColor(colors.behind)),
    };
  }

  #push(tag: Tag): Look {
    const element = elementOf(tag);
    const look = this.#lookOf(tag, element);
    this.#around.push(element);
    this.#open.push({ name: tag.name, tag, look });
    return look;
  }

  #pop(): void {
    this.#around.pop();
    this.#open.pop();
  }
}

/** It is shown when somebody opens it. */
function isClosed({ name, attributes }: Tag): boolean {
  return attributes.has('hidden') || attributes.has('popover') || (name === 'dialog' && !attributes.has('open'));
}

/** A clear background lets through what is behind it. */
function over(behind: Color | undefined, color: ReturnType<typeof readColor>): Color | undefined {
  return color === 'clear' ? behind : color;
}
