/** Sort keys of RFC 5256 3 and RFC 5957 3; RELEVANCY of RFC 6203 4. */
export const SORT_CRITERIA = [
  'ARRIVAL',
  'CC',
  'DATE',
  'DISPLAYFROM',
  'DISPLAYTO',
  'FROM',
  'RELEVANCY',
  'SIZE',
  'SUBJECT',
  'TO',
] as const;
export type SortCriterion = (typeof SORT_CRITERIA)[number];

/** One key of SORT: plain data that may cross a thread. */
export interface SortKey {
  by: SortCriterion;
  reverse: boolean;
}
