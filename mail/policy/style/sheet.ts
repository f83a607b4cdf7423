import { tagsOf } from '../html-tags.ts';
import { type Ancestors, selectorKeys } from './ancestors.ts';
import { declare, type StyleDeclarations, parseDeclarations, type Property } from './declarations.ts';
import { isForScreen } from './media.ts';
import { findOutside } from './find-outside.ts';
import { type WorkBudget, matchesSelector, readSelector, type Selector } from './selector.ts';
import type { StyledElement } from './element.ts';

/** Limits of the style sheets of one text: characters, and rules. */
const MAX_SHEET = 256 * 1024;
const MAX_RULES = 3000;
/**
 * Work budget of one text: comparisons of elements with selectors, and collected declarations. It grows with the length of
 * the text, so that a short one does not take long.
 */
const MIN_WORK = 5_000;
const WORK_PER_CHARACTER = 12;
const MAX_WORK = 3_000_000;
/** Characters of a value that equal the work of one comparison. */
const CHARACTERS_PER_COMPARISON = 20;

interface Rule {
  selector: Selector;
  usual: StyleDeclarations;
  important: StyleDeclarations;
  order: number;
  /** Characters of its block, which each matching element costs. */
  length: number;
}

/** Style sheet of a text. */
export class StyleSheet implements WorkBudget {
  /** Rules by the index key of their selector. */
  readonly #rules = new Map<string, Rule[]>();
  readonly #maxWork: number;
  #size = 0;
  #work = 0;

  /** `length`: of the text. */
  constructor(css: string, length: number) {
    this.#maxWork = Math.min(MAX_WORK, MIN_WORK + WORK_PER_CHARACTER * length);
    for (const { selectors, block } of rulesOf(css.slice(0, MAX_SHEET).replace(/<!--|-->/g, ''))) {
      const declared = parseDeclarations(block);
      for (const text of selectors.split(',')) this.#add(text, { ...declared, length: block.length });
    }
    if (css.length > MAX_SHEET) this.#work = this.#maxWork;
  }

  /** True once the limits are exceeded; the style of further elements is unknown. Normal mail does not get here. */
  get isSpent(): boolean {
    return this.#work >= this.#maxWork || this.#size >= MAX_RULES;
  }

  /** Computes the declarations of an element, inline style included, in cascade order. CSS 2.2 6.4. */
  styleOf(element: StyledElement, ancestors: Ancestors, own: ReturnType<typeof parseDeclarations>): StyleDeclarations {
    const rules = this.#size === 0 || this.isSpent ? [] : this.#matchingRules(element, ancestors);
    if (rules.length === 0) return own.important.size === 0 ? own.usual : mergeDeclarations([own.usual, own.important]);
    const usual = rules.map((rule) => rule.usual);
    const important = rules.map((rule) => rule.important);
    return mergeDeclarations([...usual, own.usual, ...important, own.important]);
  }

  #matchingRules(element: StyledElement, ancestors: Ancestors): Rule[] {
    const found: Rule[] = [];
    const look = (rules: readonly Rule[] = []): void => {
      for (const rule of rules) if (this.#holds(rule, element, ancestors)) found.push(rule);
    };
    for (const key of selectorKeys(element)) look(this.#rules.get(key));
    look(this.#rules.get('*'));
    return found.sort((a, b) => a.selector.specificity - b.selector.specificity || a.order - b.order);
  }

  #holds({ selector, length }: Rule, element: StyledElement, ancestors: Ancestors): boolean {
    if (this.#work >= this.#maxWork || !matchesSelector(selector, element, ancestors, this)) return false;
    this.spendCharacters(length);
    return true;
  }

  spendComparisons(times: number): void {
    this.#work += times;
  }

  spendCharacters(characters: number): void {
    this.#work += Math.ceil(characters / CHARACTERS_PER_COMPARISON);
  }

  #add(text: string, properties: Omit<Rule, 'selector' | 'order'>): void {
    const selector = this.#size < MAX_RULES ? readSelector(text) : undefined;
    if (selector === undefined) return;
    const rule = { selector, ...properties, order: this.#size++ };
    const same = this.#rules.get(selector.key);
    if (same === undefined) this.#rules.set(selector.key, [rule]);
    else same.push(rule);
  }
}

function mergeDeclarations(all: readonly StyleDeclarations[]): StyleDeclarations {
  const style = new Map<Property, string>();
  for (const declared of all) for (const [property, value] of declared) declare(style, property, value);
  return style;
}

/** Iterates the rules of a sheet, including those in blocks for screens. */
function* rulesOf(css: string): Generator<{ selectors: string; block: string }> {
  let at = 0;
  /** Open blocks; false: for other media. `others` counts those. */
  const open: boolean[] = [];
  let others = 0;
  while (at < css.length) {
    const end = findOutside(css, at, '{};');
    const sign = css[end] ?? '';
    const text = withoutComments(css.slice(at, end));
    at = end + 1;
    if (sign === '}' && open.pop() === false) others -= 1;
    if (sign !== '{') continue;
    if (text.startsWith('@')) {
      const isRead = /^@media\b/i.test(text) ? isForScreen(text.slice(6)) : /^@supports\b/i.test(text);
      open.push(isRead);
      if (!isRead) others += 1;
      continue;
    }
    const close = findOutside(css, at, '}');
    const block = css.slice(at, close);
    at = close + 1;
    if (others === 0) yield { selectors: text, block };
  }
}

function withoutComments(text: string): string {
  if (!text.includes('/*')) return text.trim();
  return text
    .split('/*')
    .map((piece, i) => (i === 0 ? piece : piece.slice(piece.indexOf('*/') + 2)))
    .join('')
    .trim();
}

/** Joins all style elements for screens; an unclosed one extends to the end. */
export function readStyleSheets(html: string): string {
  if (!/<style/i.test(html)) return '';
  let out = '';
  let from: number | undefined;
  // The only tag inside a sheet is its end tag.
  for (const { name, attributes, start, end } of tagsOf(html)) {
    if (from !== undefined) out += `${html.slice(from, start)}\n`;
    from = undefined;
    if (out.length > 2 * MAX_SHEET) return out;
    if (name === 'style' && appliesToScreen(attributes)) from = end;
  }
  return from === undefined ? out : out + html.slice(from);
}

function appliesToScreen(attributes: ReadonlyMap<string, string>): boolean {
  return /^(?:text\/css)?$/i.test(attributes.get('type') ?? '') && isForScreen(attributes.get('media') ?? '');
}
