import { implicitlyClosedBy, findElementToClose, elementsToReopen, requiresTable } from './html-nesting.ts';
import type { HtmlTag } from './html-tags.ts';
import { Ancestors } from './style/ancestors.ts';
import { BLACK, type Color, readColor, WHITE } from './style/color.ts';
import { colorsOf, parseDeclarations, isHiddenBy } from './style/declarations.ts';
import { toElement } from './style/selector.ts';
import type { StyleSheet } from './style/sheet.ts';
import type { StyledElement } from './style/element.ts';

const UNRENDERED: ReadonlySet<string> = new Set(
  'audio canvas datalist iframe noembed noframes noscript script style template title video'.split(' '),
);
/** Maximum nesting depth: browsers stop at 512. */
const MAX_DEPTH = 1000;
/** Comparisons that equal the work of reopening one element. */
const REOPEN_COST = 40;
/** Elements searched for the one to close that equal the work of one comparison. */
const ELEMENTS_PER_COMPARISON = 8;

/** Reason why an element is not visible. `hidden`: by a style; `unread`: never rendered, such as styles and scripts. */
export type Invisibility = 'hidden' | 'unread' | undefined;

/** Rendered look of an element, inherited values included. */
export interface RenderedLook {
  invisibility: Invisibility;
  /** Colors of text and background; undefined: unknown. */
  text: Color | 'clear' | undefined;
  background: Color | undefined;
}

interface OpenElement {
  name: string;
  tag: HtmlTag;
  look: RenderedLook;
}

const BODY: HtmlTag = { name: 'body', attributes: new Map(), isCut: false, start: 0, end: 0 };
const PAGE_LOOK: RenderedLook = { invisibility: undefined, text: BLACK, background: WHITE };
const UNKNOWN_LOOK: RenderedLook = { ...PAGE_LOOK, invisibility: 'hidden' };

/** Stack of open elements, handled as in browsers where tags are missing or misnested. */
export class OpenElements {
  readonly #sheet: StyleSheet;
  readonly #open: OpenElement[] = [];
  readonly #ancestors = new Ancestors();
  /** Nesting was too deep or too complex: everything from here on counts as hidden. */
  #isTooComplex = false;

  constructor(sheet: StyleSheet) {
    this.#sheet = sheet;
    // The body exists even without a tag, and selectors match it.
    this.#push(BODY);
  }

  /** Look of the innermost element. */
  get look(): RenderedLook {
    return this.#isTooComplex ? UNKNOWN_LOOK : (this.#open.at(-1)?.look ?? PAGE_LOOK);
  }

  /** Adds a void element. */
  addVoid(tag: HtmlTag): RenderedLook {
    this.#endBefore(tag);
    return this.#lookOf(tag);
  }

  open(tag: HtmlTag): RenderedLook {
    this.#endBefore(tag);
    if (requiresTable(tag.name) && this.#ancestors.count('table') === 0) return this.look;
    this.#isTooComplex ||= this.#open.length >= MAX_DEPTH;
    return this.#isTooComplex ? UNKNOWN_LOOK : this.#push(tag);
  }

  /** Closes an element. `by`: start tag that closes it implicitly. */
  close(name: string, by?: string): void {
    // Everything counts as hidden from here on: skip the search.
    this.#isTooComplex ||= this.#sheet.isSpent;
    if (this.#isTooComplex || this.#ancestors.count(name) === 0) return;
    const at = findElementToClose(this.#open, name, by);
    this.#sheet.spendComparisons(Math.floor((this.#open.length - Math.max(0, at)) / ELEMENTS_PER_COMPARISON));
    if (at < 0) return;
    const further = elementsToReopen(name, this.#open.slice(at + 1));
    while (this.#open.length > at) this.#pop();
    this.#sheet.spendComparisons(REOPEN_COST * further.length);
    for (const { tag } of further) this.#push(tag);
  }

  #endBefore({ name }: HtmlTag): void {
    for (const one of implicitlyClosedBy(name)) this.close(one, name);
  }

  #lookOf(tag: HtmlTag, element: StyledElement = toElement(tag)): RenderedLook {
    const { invisibility: unseen, text, background: behind } = this.look;
    if (UNRENDERED.has(tag.name)) return { invisibility: 'unread', text, background: behind };
    if (unseen !== undefined) return this.look;
    const own = parseDeclarations(tag.attributes.get('style') ?? '');
    const style = this.#sheet.styleOf(element, this.#ancestors, own);
    const hidden = isInitiallyHidden(tag) || isHiddenBy(style) || tag.isCut || this.#sheet.isSpent;
    const colors = colorsOf(style, tag);
    return {
      invisibility: hidden ? 'hidden' : undefined,
      text: colors.text === undefined || colors.text === 'inherit' ? text : readColor(colors.text),
      background: colors.behind === undefined ? behind : compositeBackground(behind, readColor(colors.behind)),
    };
  }

  #push(tag: HtmlTag): RenderedLook {
    const element = toElement(tag);
    const look = this.#lookOf(tag, element);
    this.#ancestors.push(element);
    this.#open.push({ name: tag.name, tag, look });
    return look;
  }

  #pop(): void {
    this.#ancestors.pop();
    this.#open.pop();
  }
}

/** True for elements that are hidden until the reader opens them. */
function isInitiallyHidden({ name, attributes }: HtmlTag): boolean {
  return attributes.has('hidden') || attributes.has('popover') || (name === 'dialog' && !attributes.has('open'));
}

/** Returns the visible background: a transparent one shows the one behind it. */
function compositeBackground(behind: Color | undefined, color: ReturnType<typeof readColor>): Color | undefined {
  return color === 'clear' ? behind : color;
}
