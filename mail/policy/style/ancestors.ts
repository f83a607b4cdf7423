import type { StyledElement } from './element.ts';

/** Ancestors of the next element, with an index of their keys, so that most selectors are ruled out at once. */
export class Ancestors {
  /** Outermost first. */
  readonly elements: StyledElement[] = [];
  readonly #counts = new Map<string, number>();

  push(element: StyledElement): void {
    this.elements.push(element);
    for (const key of selectorKeys(element)) this.#counts.set(key, this.count(key) + 1);
  }

  pop(): void {
    const element = this.elements.pop();
    for (const key of element === undefined ? [] : selectorKeys(element)) {
      const others = this.count(key) - 1;
      if (others > 0) this.#counts.set(key, others);
      else this.#counts.delete(key);
    }
  }

  /** Number of ancestors with this key, see {@link selectorKeys}. */
  count(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}

/** Lists the index keys of an element: `p`, `#id`, `.class` of each class. */
export function* selectorKeys({ name, id, classes }: StyledElement): Generator<string> {
  yield name;
  if (id !== '') yield `#${id}`;
  for (const one of classes) yield `.${one}`;
}
