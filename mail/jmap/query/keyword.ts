import type { Reader } from '../arguments.ts';
import { MethodError } from '../errors.ts';
import { ANSWERED, DRAFT, FLAGGED, SEEN } from '../../store/flags.ts';

/** Keywords that are system flags in IMAP. RFC 8621 4.1.1. */
export const SYSTEM_KEYWORDS: ReadonlyMap<string, number> = new Map([
  ['$seen', SEEN],
  ['$answered', ANSWERED],
  ['$flagged', FLAGGED],
  ['$draft', DRAFT],
]);

/** A keyword as it may stand in `keywords`, in lower case. */
export const keyword: Reader<string> = (value, path) => {
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(value) || /[(){\]%*"\\]/.test(value)) {
    throw new MethodError('invalidArguments', `"${path}" must be a keyword such as $flagged.`, { arguments: [path] });
  }
  return value.toLowerCase();
};
