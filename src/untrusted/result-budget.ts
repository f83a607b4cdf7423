/** Characters of JSON in a tool result, as the tool catalog states. */
export const MAX_RESULT_CHARS = 60_000;
/** Characters of a page: the minimum, the amount an item for longer pages, and the maximum. */
const MIN_PAGE_CHARS = 20_000;
const ITEM_CHARS = 800;
export const MAX_PAGE_CHARS = 50_000;

/** Counts the characters of a value as JSON. */
export function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}

/** Returns the characters allowed for a page of `limit` items. */
export function pageBudget(limit: number): number {
  return Math.min(MAX_PAGE_CHARS, Math.max(MIN_PAGE_CHARS, ITEM_CHARS * limit));
}

/** Takes the first items that fit into `room` characters; at least one, so that paging always advances. */
export function firstFitting<T>(items: readonly T[], room: number, size: (item: T) => number = sizeOf): T[] {
  let left = room;
  const over = items.findIndex((item, i) => {
    left -= size(item) + 1;
    return left < 0 && i > 0;
  });
  return over < 0 ? [...items] : items.slice(0, over);
}

/** Limits of a list: items, and characters of all together. Items that do not fit are skipped. */
export interface ItemLimit {
  most: number;
  chars: number;
}

/** Takes the items that fit, in order. */
export function takeWithin<T>(items: readonly T[], { most, chars }: ItemLimit, size: (item: T) => number): T[] {
  const few: T[] = [];
  let left = chars;
  for (const item of items) {
    if (few.length === most) break;
    if (size(item) > left) continue;
    left -= size(item);
    few.push(item);
  }
  return few;
}
