import type { ArgumentReader } from '../core/arguments.ts';
import { MethodError } from '../core/errors.ts';
import { ANSWERED, DRAFT, FLAGGED, SEEN } from '../../store/mailbox/flags.ts';

/** Keywords that are IMAP system flags. RFC 8621 4.1.1. */
export const SYSTEM_KEYWORDS: ReadonlyMap<string, number> = new Map([
  ['$seen', SEEN],
  ['$flagged', FLAGGED],
  ['$answered', ANSWERED],
  ['$draft', DRAFT],
]);

/** Reads a keyword, in lower case. */
export const keywordArgument: ArgumentReader<string> = (value, path) => {
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(value) || /[(){\]%*"\\]/.test(value)) {
    throw new MethodError('invalidArguments', `"${path}" must be a keyword such as $flagged.`, { arguments: [path] });
  }
  return value.toLowerCase();
};
