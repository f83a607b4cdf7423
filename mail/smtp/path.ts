import { parseAddress, type Address } from '../message/address.ts';

/** The path between `<` and `>` in MAIL and RCPT. RFC 5321 4.1.2. */
export type Path =
  | { kind: 'address'; address: Address }
  /** `<>`, the null reverse-path. */
  | { kind: 'null' }
  /** `<Postmaster>` without a domain, which RFC 5321 4.1.1.3 requires to accept. */
  | { kind: 'postmaster' };

export type PathFault =
  /** No `<`, no `>`, or something other than a space after it. */
  { kind: 'no-brackets' } | { kind: 'source-route' } | { kind: 'not-an-address' };

/** Parses a path at the start of `text`; `rest` is the text after the closing bracket and space. */
export function readPath(text: string): { path: Path; rest: string } | PathFault {
  if (!text.startsWith('<')) return { kind: 'no-brackets' };
  const close = closingBracket(text);
  if (close < 0) return { kind: 'no-brackets' };
  const after = text.slice(close + 1);
  if (after !== '' && !after.startsWith(' ')) return { kind: 'no-brackets' };
  const path = parsePath(text.slice(1, close));
  return 'fault' in path ? { kind: path.fault } : { path, rest: after.trim() };
}

function parsePath(inside: string): Path | { fault: 'source-route' | 'not-an-address' } {
  if (inside === '') return { kind: 'null' };
  // RFC 5321 appendix C: a server may ignore the source route `@a,@b:`. Rejected: only attacks use it.
  if (inside.startsWith('@')) return { fault: 'source-route' };
  // RFC 5321 4.5.3.1.3: 256 octets of path with its brackets.
  if (Buffer.byteLength(inside) > 254) return { fault: 'not-an-address' };
  if (/^postmaster$/i.test(inside)) return { kind: 'postmaster' };
  const address = parseAddress(inside);
  return address === undefined ? { fault: 'not-an-address' } : { kind: 'address', address };
}

/** The index of the `>` that ends the path, not one inside a quoted local part. */
function closingBracket(text: string): number {
  if (text[1] !== '"') return text.indexOf('>');
  let at = 2;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return text.indexOf('>', at);
}
