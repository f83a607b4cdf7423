/** Parts of a list with at most `size` items each, in its order. */
export function chunks<Item>(items: readonly Item[], size: number): (readonly Item[])[] {
  const step = Math.max(1, size);
  return Array.from({ length: Math.ceil(items.length / step) }, (_, at) => items.slice(at * step, (at + 1) * step));
}
