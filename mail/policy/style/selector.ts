import type { Tag } from '../html-tags.ts';
import type { Around } from './around.ts';

/** One element as a selector has it: of what type, with which id, classes and attributes. */
interface Compound {
  type: string;
  id: string;
  classes: readonly string[];
  attributes: readonly Condition[];
  /** It stands right in the one before. */
  isChild: boolean;
}

interface Condition {
  name: string;
  sign: string;
  value: string;
}

/** Elements inside each other, the last of them the one that is meant. */
export interface Selector {
  compounds: readonly Compound[];
  /** What an element must have first to be meant: `#id`, `.class`, a type or `*`. */
  key: string;
  /** The same of each that has to be around it. */
  outer: readonly string[];
  /** CSS 2.2 6.4.3: the larger one counts. */
  weight: number;
  /** How much it asks for in all: by this one look at it is more work than at another. */
  cost: number;
}

/** An element with what selectors ask about it. */
export interface Element {
  name: string;
  id: string;
  classes: ReadonlySet<string>;
  attributes: Tag['attributes'];
}

const MOST_COMPOUNDS = 50;
/** Conditions that are as much work as one comparison. */
const EASY = 8;
const PART = /([.#]?[\w\x80-\uffff-]+|\*)|\[([\w-]+)(?:([~*^$|]?=)["']?([^"'\]]*)["']?)?\]/y;
const NO_CLASSES: ReadonlySet<string> = new Set();

export function elementOf({ name, attributes }: Tag): Element {
  const classes = attributes.get('class');
  const id = attributes.get('id') ?? '';
  return { name, id, classes: classes === undefined ? NO_CLASSES : classesIn(classes), attributes };
}

function classesIn(text: string): Set<string> {
  return new Set(text.split(/\s+/).filter((one) => one !== ''));
}

/**
 * A selector of types, classes, ids and attributes, one inside the other. Undefined for all
 * others: states of an element, neighbours, and what is drawn beside it.
 */
export function readSelector(text: string): Selector | undefined {
  const words = text.replaceAll('>', ' > ').trim().split(/\s+/);
  if (words.length > MOST_COMPOUNDS) return undefined;
  const compounds: Compound[] = [];
  for (const [i, word] of words.entries()) {
    if (word === '>' && i > 0 && i < words.length - 1) continue;
    const compound = readCompound(word, words[i - 1] === '>');
    if (compound === undefined) return undefined;
    compounds.push(compound);
  }
  // It is around everything, whether a mail writes it or not.
  if (compounds.length > 1 && words[0]?.toLowerCase() === 'html') compounds.shift();
  const keys = compounds.map(keyOf);
  return {
    compounds,
    key: keys.at(-1) ?? '*',
    outer: keys.slice(0, -1),
    weight: compounds.reduce((sum, one) => sum + weightOf(one), 0),
    cost: Math.ceil(compounds.reduce((sum, one) => sum + 1 + one.classes.length + one.attributes.length, 0) / EASY),
  };
}

function readCompound(word: string, isChild: boolean): Compound | undefined {
  const classes: string[] = [];
  const attributes: Condition[] = [];
  let type = '*';
  let id = '';
  let at = 0;
  while (at < word.length) {
    PART.lastIndex = at;
    const found = PART.exec(word);
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

function weightOf({ type, id, classes, attributes }: Compound): number {
  return (id === '' ? 0 : 10_000) + 100 * (classes.length + attributes.length) + (type === '*' ? 0 : 1);
}

/** What an element must have first to be meant: an id, a class, a type, or `*`. */
function keyOf({ type, id, classes }: Compound): string {
  if (id !== '') return `#${id}`;
  return classes[0] === undefined ? type : `.${classes[0]}`;
}

/** Told of the work, in comparisons of an element with a selector, and in characters of a value that were gone through. */
export interface Effort {
  /** No more is to be compared. */
  readonly isSpent: boolean;
  compared(times: number): void;
  through(characters: number): void;
}

/** Whether an element with these around it is meant. */
export function isMeant(selector: Selector, element: Element, around: Around, effort: Effort): boolean {
  const { compounds, outer, cost } = selector;
  effort.compared(cost);
  const last = compounds.at(-1);
  if (last === undefined || !outer.every((key) => key === '*' || around.count(key) > 0)) return false;
  return fits(last, element, effort) && isInside(selector, compounds.length - 1, around.elements, effort);
}

/** Whether what stands before a compound is around the element that it fits, which is behind these. */
function isInside(
  selector: Selector,
  index: number,
  around: readonly Element[],
  effort: Effort,
  at = around.length,
): boolean {
  const { isChild = false } = selector.compounds[index] ?? {};
  const outer = selector.compounds[index - 1];
  // Right in the page is its body, which is the first of them.
  if (outer === undefined) return !isChild || at === 0;
  for (let place = at - 1; place >= (isChild ? at - 1 : 0) && !effort.isSpent; place--) {
    const one = around[place];
    effort.compared(selector.cost);
    if (one !== undefined && fits(outer, one, effort) && isInside(selector, index - 1, around, effort, place))
      return true;
  }
  return false;
}

function fits({ type, id, classes, attributes }: Compound, element: Element, effort: Effort): boolean {
  return (
    (type === '*' || type === element.name) &&
    (id === '' || id === element.id) &&
    classes.every((one) => element.classes.has(one)) &&
    attributes.every((one) => holds(one, element.attributes.get(one.name), effort))
  );
}

function holds({ sign, value }: Condition, actual: string | undefined, effort: Effort): boolean {
  if (actual === undefined) return false;
  if (sign === '~=' || sign === '*=') effort.through(actual.length);
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
