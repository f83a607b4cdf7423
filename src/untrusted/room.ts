/** Characters of JSON that the result of a tool has at most, as the catalogue tells clients. */
export const MOST_RESULT = 60_000;
/** Of a page of usual length; one that is asked to be longer may have so much an item, and all together the last. */
const USUAL_PAGE = 20_000;
const PER_ITEM = 800;
export const LONG_PAGE = 50_000;

/** Characters of a value as JSON. */
export function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}

/** Characters that a page of so many items may have. */
export function pageRoom(limit: number): number {
  return Math.min(LONG_PAGE, Math.max(USUAL_PAGE, PER_ITEM * limit));
}

/** The first items that together have no more than `room` characters; at least one, so that every page goes on. */
export function firstFitting<T>(items: readonly T[], room: number, size: (item: T) => number = sizeOf): T[] {
  let left = room;
  const over = items.findIndex((item, i) => {
    left -= size(item) + 1;
    return left < 0 && i > 0;
  });
  return over < 0 ? [...items] : items.slice(0, over);
}

/** At most so many, and no more characters together: whatever does not fit any more is passed over. */
export interface Few {
  most: number;
  chars: number;
}

/** The items of which there is room, in their order. */
export function fewOf<T>(items: readonly T[], { most, chars }: Few, size: (item: T) => number): T[] {
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
