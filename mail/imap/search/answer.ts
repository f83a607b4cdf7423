import type { SearchReturn } from './program.ts';

/**
 * The untagged answer with CRLF: `* SEARCH 2 3` (also when empty), or with RETURN `* ESEARCH (TAG "a") UID COUNT 2`.
 * `found` are UIDs, or sequence numbers, ascending.
 */
export declare function searchAnswer(
  tag: string,
  uid: boolean,
  found: ArrayLike<number>,
  returns: readonly SearchReturn[] | undefined,
): string;
