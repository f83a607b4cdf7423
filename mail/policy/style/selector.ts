import type { Tag } from '../html-tags.ts';

/** One element as a selector has it: of what type, with which id, classes and attributes. */
interface Compound {
  type: string;
  id: string;
  classes: readonly string[];
  attributes: readonly Condition[];
}

interface Condition {
  name: string;
  sign: string;
  value: string;
}

/** Elements inside each other, the last of them the one that is meant. */
export interface Selector {
  compounds: readonly Compound[];
  /** CSS 2.2 6.4.3: the larger one counts. */
  weight: number;
  /** How much it asks for in all: by this one look at it is more work than at another. */
  conditions: number;
}

/** An element with what selectors ask about it. */
export interface Element {
  name: string;
  id: string;
  classes: ReadonlySet<string>;
  attributes: Tag['attributes'];
}

const MOST_COMPOUNDS = 8;
const PART = /([.#]?[\w-]{1,100}|\*)|\[([\w-]{1,40})(?:([~*^$|]?=)["']?([^"'\]]{0,100})["']?)?\]/y;

export function elementOf({ name, attributes }: Tag): Element {
  const classes = (attributes.get('class') ?? '').split(/\s+/).filter((one) => one !== '');
  return { name, id: attributes.get('id') ?? '', classes: new Set(classes.slice(0, 50)), attributes };
}

/**
 * A selector of types, classes, ids and attributes, one inside the other; a child counts as any descendant. Undefined for
 * all others: states of an element, neighbours, and what is drawn beside it.
 */
export function readSelector(text: string): Selector | undefined {
  const words = text.replaceAll('>', ' ').trim().split(/\s+/);
  if (words.length > MOST_COMPOUNDS) return undefined;
  const compounds: Compound[] = [];
  for (const word of words) {
    const compound = readCompound(word);
    if (compound === undefined) return undefined;
    compounds.push(compound);
  }
  // It is around everything, whether a mail writes it or not.
  if (compounds.length > 1 && words[0]?.toLowerCase() === 'html') compounds.shift();
  return {
    compounds,
    weight: compounds.reduce((sum, one) => sum + weightOf(one), 0),
    conditions: compounds.reduce((sum, one) => sum + 1 + one.classes.length + one.attributes.length, 0),
  };
}

function readCompound(word: string): Compound | undefined {
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
  return word === '' ? undefined : { type, id, classes, attributes };
}

function weightOf({ type, id, classes, attributes }: Compound): number {
  return (id === '' ? 0 : 10_000) + 100 * (classes.length + attributes.length) + (type === '*' ? 0 : 1);
}

/** Told how many characters of a value were gone through. */
type Through = (characters: number) => void;

/** Whether an element with these around it, the outermost first, is meant. */
export function isMeant(
  { compounds }: Selector,
  element: Element,
  around: readonly Element[],
  through: Through,
): boolean {
  const last = compounds.at(-1);
  if (last === undefined || !fits(last, element, through)) return false;
  let left = compounds.length - 2;
  for (let at = around.length - 1; at >= 0 && left >= 0; at--) {
    const [compound, one] = [compounds[left], around[at]];
    if (compound !== undefined && one !== undefined && fits(compound, one, through)) left -= 1;
  }
  return left < 0;
}

function fits({ type, id, classes, attributes }: Compound, element: Element, through: Through): boolean {
  return (
    (type === '*' || type === element.name) &&
    (id === '' || id === element.id) &&
    classes.every((one) => element.classes.has(one)) &&
    attributes.every((one) => holds(one, element.attributes.get(one.name), through))
  );
}

function holds({ sign, value }: Condition, actual: string | undefined, through: Through): boolean {
  if (actual === undefined) return false;
  if (sign === '~=' || sign === '*=') through(actual.length);
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
