import type { Element } from './selector.ts';

/** The elements around the next one, and what selectors ask for first, so that most need no look at each of them. */
export class Around {
  /** The outermost first. */
  readonly elements: Element[] = [];
  readonly #counts = new Map<string, number>();

  push(element: Element): void {
    this.elements.push(element);
    for (const key of keysOf(element)) this.#counts.set(key, this.count(key) + 1);
  }

  pop(): void {
    const element = this.elements.pop();
    for (const key of element === undefined ? [] : keysOf(element)) {
      const others = this.count(key) - 1;
      if (others > 0) this.#counts.set(key, others);
      else this.#counts.delete(key);
    }
  }

  /** How many of them have this key: see {@link keysOf}. */
  count(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}

/** What an element can be found by: `p`, `#id`, `.class` of each class. */
export function* keysOf({ name, id, classes }: Element): Generator<string> {
  yield name;
  if (id !== '') yield `#${id}`;
  for (const one of classes) yield `.${one}`;
}
