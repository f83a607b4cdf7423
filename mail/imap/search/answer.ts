import { uidSet } from '../wire/encoder.ts';
import type { SearchReturn } from './program.ts';

/**
 * The untagged answer with CRLF: `* SEARCH 2 3` (also when empty), or with RETURN `* ESEARCH (TAG "a") UID COUNT 2`.
 * `found` are UIDs, or sequence numbers, ascending.
 */
export function searchAnswer(
  tag: string,
  uid: boolean,
  found: ArrayLike<number>,
  returns: readonly SearchReturn[] | undefined,
): string {
  if (returns === undefined)
    return `* SEARCH${found.length === 0 ? '' : ` ${Array.prototype.join.call(found, ' ')}`}\r\n`;
  const data = returns.map((option) => returned(option, found)).join('');
  return `* ESEARCH (TAG "${tag}")${uid ? ' UID' : ''}${data}\r\n`;
}

function returned(option: SearchReturn, found: ArrayLike<number>): string {
  if (option === 'COUNT') return ` COUNT ${found.length}`;
  // RFC 4731 3.1: what would be empty is left out.
  if (found.length === 0) return '';
  if (option === 'MIN') return ` MIN ${found[0]}`;
  if (option === 'MAX') return ` MAX ${found[found.length - 1]}`;
  return ` ALL ${uidSet(found)}`;
}
