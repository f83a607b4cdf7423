import { type Declared, declarationsOf } from './declarations.ts';
import { isForScreen } from './media.ts';
import { type Element, isMeant, readSelector, type Selector } from './selector.ts';

/** Characters of the style sheets of one text, and selectors in them, that are read. */
const MOST_SHEET = 256 * 1024;
const MOST_RULES = 3000;
/** Comparisons of an element with a selector, and with what is around it, and declarations that are gathered, in one text. */
const MOST_WORK = 3_000_000;
/** Conditions of a selector, and characters of a value, that are as much work as one comparison. */
const CONDITIONS = 8;
const CHARACTERS = 20;

interface Rule {
  selector: Selector;
  usual: Declared;
  important: Declared;
  order: number;
}

/** What the style sheets of a text say of its elements. */
export class StyleSheet {
  /** By what the last part of the selector asks for first: an id, a class, a type, or anything. */
  readonly #rules = new Map<string, Rule[]>();
  #size = 0;
  #work = 0;

  constructor(css: string) {
    for (const { selectors, block } of rulesOf(css.slice(0, MOST_SHEET).replace(/<!--|-->/g, ''))) {
      const declared = declarationsOf(block);
      for (const text of selectors.split(',')) this.#add(text, declared);
    }
    if (css.length > MOST_SHEET) this.#work = MOST_WORK;
  }

  /** No mail that people write has so many rules: what they say of the rest is not known. */
  get isSpent(): boolean {
    return this.#work >= MOST_WORK || this.#size >= MOST_RULES;
  }

  /** All that holds for an element, with what it says itself: the heavier one counts, of two alike the later. CSS 2.2 6.4. */
  styleOf(element: Element, around: readonly Element[], own: ReturnType<typeof declarationsOf>): Declared {
    if (this.#size === 0 || this.isSpent) return new Map([...own.usual, ...own.important]);
    const rules = this.#meaning(element, around);
    const usual = rules.flatMap((rule) => [...rule.usual]);
    const important = rules.flatMap((rule) => [...rule.important]);
    return new Map([...usual, ...own.usual, ...important, ...own.important]);
  }

  #meaning(element: Element, around: readonly Element[]): Rule[] {
    const keys = [`#${element.id}`, ...[...element.classes].map((one) => `.${one}`), element.name, '*'];
    const found = keys.flatMap((key) =>
      (this.#rules.get(key) ?? []).filter((rule) => this.#holds(rule, element, around)),
    );
    return found.toSorted((a, b) => a.selector.weight - b.selector.weight || a.order - b.order);
  }

  #holds({ selector, usual, important }: Rule, element: Element, around: readonly Element[]): boolean {
    this.#work +=
      Math.ceil(selector.conditions / CONDITIONS) * (1 + (selector.compounds.length > 1 ? around.length : 0));
    if (this.#work >= MOST_WORK) return false;
    const through = (characters: number): void => {
      this.#work += Math.ceil(characters / CHARACTERS);
    };
    if (!isMeant(selector, element, around, through)) return false;
    this.#work += usual.size + important.size;
    return true;
  }

  #add(text: string, { usual, important }: ReturnType<typeof declarationsOf>): void {
    const selector = this.#size < MOST_RULES ? readSelector(text) : undefined;
    const last = selector?.compounds.at(-1);
    if (selector === undefined || last === undefined) return;
    const key = last.id !== '' ? `#${last.id}` : last.classes[0] !== undefined ? `.${last.classes[0]}` : last.type;
    const rule = { selector, usual, important, order: this.#size++ };
    const same = this.#rules.get(key);
    if (same === undefined) this.#rules.set(key, [rule]);
    else same.push(rule);
  }
}

/** Rules of a sheet, those in blocks for screens among them. */
function* rulesOf(css: string): Generator<{ selectors: string; block: string }> {
  let at = 0;
  /** Open blocks; false: it is for other media. And how many of these there are. */
  const open: boolean[] = [];
  let others = 0;
  while (at < css.length) {
    const { sign, end } = nextSign(css, at);
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
    const close = css.indexOf('}', at);
    const block = css.slice(at, close < 0 ? css.length : close);
    at = close < 0 ? css.length : close + 1;
    if (others === 0) yield { selectors: text, block };
  }
}

/** The next brace or end of a statement, outside of notes. */
function nextSign(css: string, from: number): { sign: string; end: number } {
  for (let at = from; at < css.length; at++) {
    const sign = css[at] ?? '';
    if (sign === '{' || sign === '}' || sign === ';') return { sign, end: at };
    if (sign !== '/' || css[at + 1] !== '*') continue;
    const close = css.indexOf('*/', at + 2);
    if (close < 0) break;
    at = close + 1;
  }
  return { sign: '', end: css.length };
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
  const opening = /<style(?=[\s>/])([^>]{0,1000})>/gi;
  let out = '';
  for (let tag = opening.exec(html); tag !== null; tag = opening.exec(html)) {
    const media = /\bmedia\s{0,9}=\s{0,9}["']?([^"'>]{0,300})/i.exec(tag[1] ?? '')?.[1] ?? '';
    const found = closing(html, opening.lastIndex);
    if (isForScreen(media)) out += `${html.slice(opening.lastIndex, found)}\n`;
    if (out.length > 2 * MOST_SHEET) break;
    opening.lastIndex = found;
  }
  return out;
}

function closing(html: string, from: number): number {
  const end = /<\/style/gi;
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}
