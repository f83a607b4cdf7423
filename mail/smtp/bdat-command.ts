import { fault, type SyntaxFault } from './syntax.ts';

/** Parses what follows `BDAT `. RFC 3030 2. */
export function parseBdat(text: string): { octets: number; last: boolean } | SyntaxFault {
  const words = /^(\d{1,15})( +LAST)?$/i.exec(text.trimEnd());
  // Without a valid size the chunk cannot be skipped: the caller has to close the connection.
  if (words === null) return fault(501, '5.5.4', 'Syntax: BDAT octets [LAST]');
  return { octets: Number(words[1]), last: words[2] !== undefined };
}
