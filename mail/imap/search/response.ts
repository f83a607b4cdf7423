import { uidSet } from '../wire/encoder.ts';
import type { SearchReturn } from './program.ts';

/**
 * The untagged response with CRLF: `* SEARCH 2 3` (also when empty), or with RETURN `* ESEARCH (TAG "a") UID COUNT 2`.
 * `found`: UIDs or sequence numbers, ascending.
 */
export function searchResponse(
  tag: string,
  uid: boolean,
  found: ArrayLike<number>,
  returns: readonly SearchReturn[] | undefined,
): string {
  if (returns === undefined)
    return `* SEARCH${found.length === 0 ? '' : ` ${Array.prototype.join.call(found, ' ')}`}\r\n`;
  const data = returns.map((option) => returnData(option, found)).join('');
  return `* ESEARCH (TAG "${tag}")${uid ? ' UID' : ''}${data}\r\n`;
}

function returnData(option: SearchReturn, found: ArrayLike<number>): string {
  if (option === 'COUNT') return ` COUNT ${found.length}`;
  // RFC 4731 3.1: MIN, MAX and ALL are omitted when nothing matches.
  if (found.length === 0) return '';
  if (option === 'MIN') return ` MIN ${found[0]}`;
  if (option === 'MAX') return ` MAX ${found[found.length - 1]}`;
  return ` ALL ${uidSet(found)}`;
}
