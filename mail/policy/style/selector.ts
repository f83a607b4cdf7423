import type { HtmlTag } from '../html-tags.ts';
import type { Ancestors } from './ancestors.ts';
import type { StyledElement } from './element.ts';

/** Compound selector: type, id, classes and attributes of one element. */
interface Compound {
  type: string;
  id: string;
  classes: readonly string[];
  attributes: readonly Condition[];
  /** Preceded by the child combinator `>`. */
  isChild: boolean;
}

interface Condition {
  name: string;
  sign: string;
  value: string;
}

/** Complex selector; the last compound is the subject. */
export interface Selector {
  compounds: readonly Compound[];
  /** Index key of the subject: `#id`, `.class`, a type or `*`. */
  key: string;
  /** Index keys of the required ancestors. */
  outer: readonly string[];
  /** CSS 2.2 6.4.3: the larger one wins. */
  specificity: number;
  /** Work of one comparison, by the number of conditions. */
  cost: number;
}

const MAX_COMPOUNDS = 50;
/** Conditions that equal the work of one comparison. */
const CONDITIONS_PER_COMPARISON = 8;
const SELECTOR_PART = /([.#]?[\w\x80-\uffff-]+|\*)|\[([\w-]+)(?:([~*^$|]?=)["']?([^"'\]]*)["']?)?\]/y;
const NO_CLASSES: ReadonlySet<string> = new Set();

export function toElement({ name, attributes }: HtmlTag): StyledElement {
  const classes = attributes.get('class');
  const id = attributes.get('id') ?? '';
  return { name, id, classes: classes === undefined ? NO_CLASSES : classesIn(classes), attributes };
}

function classesIn(text: string): Set<string> {
  return new Set(text.split(/\s+/).filter((one) => one !== ''));
}

/**
 * Parses a selector of types, classes, ids and attributes with descendant and child combinators. Undefined for all others:
 * pseudo-classes, siblings and pseudo-elements.
 */
export function readSelector(text: string): Selector | undefined {
  const words = text.replaceAll('>', ' > ').trim().split(/\s+/);
  if (words.length > MAX_COMPOUNDS) return undefined;
  const compounds: Compound[] = [];
  for (const [i, word] of words.entries()) {
    if (word === '>' && i > 0 && i < words.length - 1) continue;
    const compound = readCompound(word, words[i - 1] === '>');
    if (compound === undefined) return undefined;
    compounds.push(compound);
  }
  // The root is an ancestor of everything, with or without a tag.
  if (compounds.length > 1 && words[0]?.toLowerCase() === 'html') compounds.shift();
  const keys = compounds.map(keyOf);
  return {
    compounds,
    key: keys.at(-1) ?? '*',
    outer: keys.slice(0, -1),
    specificity: compounds.reduce((sum, one) => sum + specificityOf(one), 0),
    cost: Math.ceil(
      compounds.reduce((sum, one) => sum + 1 + one.classes.length + one.attributes.length, 0) /
        CONDITIONS_PER_COMPARISON,
    ),
  };
}

function readCompound(word: string, isChild: boolean): Compound | undefined {
  const classes: string[] = [];
  const attributes: Condition[] = [];
  let type = '*';
  let id = '';
  let at = 0;
  while (at < word.length) {
    SELECTOR_PART.lastIndex = at;
    const found = SELECTOR_PART.exec(word);
    if (found === null) return undefined;
    const [whole, part, name, sign = '', value = ''] = found;
    if (name !== undefined) attributes.push({ name: name.toLowerCase(), sign, value });
    else if (part?.startsWith('.') === true) classes.push(part.slice(1));
    else if (part?.startsWith('#') === true) id = part.slice(1);
    else if (at === 0) type = (part ?? '*').toLowerCase();
    else return undefined;
    at += whole.length;
  }
  return word === '' ? undefined : { type, id, classes, attributes, isChild };
}

function specificityOf({ type, id, classes, attributes }: Compound): number {
  return (id === '' ? 0 : 10_000) + 100 * (classes.length + attributes.length) + (type === '*' ? 0 : 1);
}

/** Index key of a compound: an id, a class, a type, or `*`. */
function keyOf({ type, id, classes }: Compound): string {
  if (id !== '') return `#${id}`;
  return classes[0] === undefined ? type : `.${classes[0]}`;
}

/** Budget of work: comparisons of an element with a selector, and characters of scanned values. */
export interface WorkBudget {
  /** The budget is used up. */
  readonly isSpent: boolean;
  spendComparisons(times: number): void;
  spendCharacters(characters: number): void;
}

/** True if the selector matches an element with these ancestors. */
export function matchesSelector(
  selector: Selector,
  element: StyledElement,
  ancestors: Ancestors,
  budget: WorkBudget,
): boolean {
  const { compounds, outer, cost } = selector;
  budget.spendComparisons(cost);
  const last = compounds.at(-1);
  if (last === undefined || !outer.every((key) => key === '*' || ancestors.count(key) > 0)) return false;
  return (
    matchesCompound(last, element, budget) &&
    matchesAncestors(selector, compounds.length - 1, ancestors.elements, budget)
  );
}

/** True if the compounds before `index` match ancestors before position `at`. */
function matchesAncestors(
  selector: Selector,
  index: number,
  ancestors: readonly StyledElement[],
  budget: WorkBudget,
  at = ancestors.length,
): boolean {
  const { isChild = false } = selector.compounds[index] ?? {};
  const outer = selector.compounds[index - 1];
  // The body is the only child of the root, and the first ancestor.
  if (outer === undefined) return !isChild || at === 0;
  for (let position = at - 1; position >= (isChild ? at - 1 : 0) && !budget.isSpent; position--) {
    const one = ancestors[position];
    budget.spendComparisons(selector.cost);
    if (
      one !== undefined &&
      matchesCompound(outer, one, budget) &&
      matchesAncestors(selector, index - 1, ancestors, budget, position)
    )
      return true;
  }
  return false;
}

function matchesCompound(
  { type, id, classes, attributes }: Compound,
  element: StyledElement,
  budget: WorkBudget,
): boolean {
  return (
    (type === '*' || type === element.name) &&
    (id === '' || id === element.id) &&
    classes.every((one) => element.classes.has(one)) &&
    attributes.every((one) => matchesCondition(one, element.attributes.get(one.name), budget))
  );
}

function matchesCondition({ sign, value }: Condition, actual: string | undefined, budget: WorkBudget): boolean {
  if (actual === undefined) return false;
  if (sign === '~=' || sign === '*=') budget.spendCharacters(actual.length);
  switch (sign) {
    case '':
      return true;
    case '=':
      return actual === value;
    case '~=':
      return actual.split(/\s+/).includes(value);
    case '*=':
      return value !== '' && actual.includes(value);
    case '^=':
      return value !== '' && actual.startsWith(value);
    case '$=':
      return value !== '' && actual.endsWith(value);
    default:
      return actual === value || actual.startsWith(`${value}-`);
  }
}
