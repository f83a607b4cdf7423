/**
 * About how many octets a value has as JSON, counted no further than a little behind `most`. What is shared by several
 * places counts in each: by references a request of a few lines makes an answer that doubles with each call.
 */
export function jsonSize(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  let size = 2;
  for (const [name, one] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    size += 1 + (typeof name === 'string' ? name.length + 3 : 0) + jsonSize(one, most - size);
    if (size > most) break;
  }
  return size;
}
