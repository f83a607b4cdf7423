import { tagsOf } from '../html-tags.ts';
import { type Around, keysOf } from './around.ts';
import { declare, type Declared, declarationsOf, type Property } from './declarations.ts';
import { isForScreen } from './media.ts';
import { nextOutside } from './outside.ts';
import { type Effort, type Element, isMeant, readSelector, type Selector } from './selector.ts';

/** Characters of the style sheets of one text, and selectors in them, that are read. */
const MOST_SHEET = 256 * 1024;
const MOST_RULES = 3000;
/**
 * Comparisons of an element with a selector, and with what is around it, and declarations that are gathered, in one text:
 * so many for each of its characters, so that a short one does not take long.
 */
const LEAST_WORK = 5_000;
const WORK_EACH = 12;
const MOST_WORK = 3_000_000;
/** Characters of a value that are as much work as one comparison. */
const CHARACTERS = 20;

interface Rule {
  selector: Selector;
  usual: Declared;
  important: Declared;
  order: number;
  /** Characters of its block: each element that it is about is looked at by what it declares. */
  length: number;
}

/** What the style sheets of a text say of its elements. */
export class StyleSheet implements Effort {
  /** By what the last part of the selector asks for first: an id, a class, a type, or anything. */
  readonly #rules = new Map<string, Rule[]>();
  readonly #mostWork: number;
  #size = 0;
  #work = 0;

  /** `length`: of the text whose sheets these are. */
  constructor(css: string, length: number) {
    this.#mostWork = Math.min(MOST_WORK, LEAST_WORK + WORK_EACH * length);
    for (const { selectors, block } of rulesOf(css.slice(0, MOST_SHEET).replace(/<!--|-->/g, ''))) {
      const declared = declarationsOf(block);
      for (const text of selectors.split(',')) this.#add(text, { ...declared, length: block.length });
    }
    if (css.length > MOST_SHEET) this.#work = this.#mostWork;
  }

  /** No mail that people write has so many rules: what they say of the rest is not known. */
  get isSpent(): boolean {
    return this.#work >= this.#mostWork || this.#size >= MOST_RULES;
  }

  /** All that holds for an element, with what it says itself: the heavier one counts, of two alike the later. CSS 2.2 6.4. */
  styleOf(element: Element, around: Around, own: ReturnType<typeof declarationsOf>): Declared {
    const rules = this.#size === 0 || this.isSpent ? [] : this.#meaning(element, around);
    if (rules.length === 0) return own.important.size === 0 ? own.usual : joined([own.usual, own.important]);
    const usual = rules.map((rule) => rule.usual);
    const important = rules.map((rule) => rule.important);
    return joined([...usual, own.usual, ...important, own.important]);
  }

  #meaning(element: Element, around: Around): Rule[] {
    const found: Rule[] = [];
    const look = (rules: readonly Rule[] = []): void => {
      for (const rule of rules) if (this.#holds(rule, element, around)) found.push(rule);
    };
    for (const key of keysOf(element)) look(this.#rules.get(key));
    look(this.#rules.get('*'));
    return found.sort((a, b) => a.selector.weight - b.selector.weight || a.order - b.order);
  }

  #holds({ selector, length }: Rule, element: Element, around: Around): boolean {
    if (this.#work >= this.#mostWork || !isMeant(selector, element, around, this)) return false;
    this.through(length);
    return true;
  }

  compared(times: number): void {
    this.#work += times;
  }

  through(characters: number): void {
    this.#work += Math.ceil(characters / CHARACTERS);
  }

  #add(text: string, says: Omit<Rule, 'selector' | 'order'>): void {
    const selector = this.#size < MOST_RULES ? readSelector(text) : undefined;
    if (selector === undefined) return;
    const rule = { selector, ...says, order: this.#size++ };
    const same = this.#rules.get(selector.key);
    if (same === undefined) this.#rules.set(selector.key, [rule]);
    else same.push(rule);
  }
}

function joined(all: readonly Declared[]): Declared {
  const style = new Map<Property, string>();
  for (const declared of all) for (const [property, value] of declared) declare(style, property, value);
  return style;
}

/** Rules of a sheet, those in blocks for screens among them. */
function* rulesOf(css: string): Generator<{ selectors: string; block: string }> {
  let at = 0;
  /** Open blocks; false: it is for other media. And how many of these there are. */
  const open: boolean[] = [];
  let others = 0;
  while (at < css.length) {
    const end = nextOutside(css, at, '{};');
    const sign = css[end] ?? '';
    const text = withoutNotes(css.slice(at, end));
    at = end + 1;
    if (sign === '}' && open.pop() === false) others -= 1;
    if (sign !== '{') continue;
    if (text.startsWith('@')) {
      const isRead = /^@media\b/i.test(text) ? isForScreen(text.slice(6)) : /^@supports\b/i.test(text);
      open.push(isRead);
      if (!isRead) others += 1;
      continue;
    }
    const close = nextOutside(css, at, '}');
    const block = css.slice(at, close);
    at = close + 1;
    if (others === 0) yield { selectors: text, block };
  }
}

function withoutNotes(text: string): string {
  if (!text.includes('/*')) return text.trim();
  return text
    .split('/*')
    .map((piece, i) => (i === 0 ? piece : piece.slice(piece.indexOf('*/') + 2)))
    .join('')
    .trim();
}

/** The text of all style elements that are for screens; one that is left open goes to the end. */
export function sheetsOf(html: string): string {
  if (!/<style/i.test(html)) return '';
  let out = '';
  let from: number | undefined;
  // No tag stands in a sheet but its end.
  for (const { name, attributes, start, end } of tagsOf(html)) {
    if (from !== undefined) out += `${html.slice(from, start)}\n`;
    from = undefined;
    if (out.length > 2 * MOST_SHEET) return out;
    if (name === 'style' && isRead(attributes)) from = end;
  }
  return from === undefined ? out : out + html.slice(from);
}

function isRead(attributes: ReadonlyMap<string, string>): boolean {
  return /^(?:text\/css)?$/i.test(attributes.get('type') ?? '') && isForScreen(attributes.get('media') ?? '');
}
