import { CLASSES, DIGIT, TAG } from './grammar.ts';

/** `{n}`, `{n+}` or `~{n}` at the end of a line. */
export interface LiteralMarker {
  size: number;
  /** The client waits for a continuation. RFC 7888: `{n+}` does not. */
  sync: boolean;
  /** `~{n}`: literal8 of RFC 3516 and RFC 6855. */
  binary: boolean;
  /** Offset of `~` or `{`. */
  at: number;
}

const PLUS = 0x2b;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const TILDE = 0x7e;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The literal announced by a line (without its CRLF), if any. A size too large for a number is Infinity. */
export function literalMarker(line: Buffer): LiteralMarker | undefined {
  if (line[line.length - 1] !== CLOSE) return undefined;
  let at = line.length - 2;
  const sync = line[at] !== PLUS;
  if (!sync) at--;
  const last = at;
  while (at >= 0 && isDigit(line[at])) at--;
  if (at === last || line[at] !== OPEN) return undefined;
  const size = Number(line.toString('latin1', at + 1, last + 1));
  const binary = line[at - 1] === TILDE;
  return inQuotes(line, at) ? undefined : { size, sync, binary, at: binary ? at - 1 : at };
}

function isDigit(octet: number | undefined): boolean {
  return octet !== undefined && ((CLASSES[octet] ?? 0) & DIGIT) !== 0;
}

// An unterminated quoted string with `{3}` is a syntax error for the decoder, not a literal.
function inQuotes(line: Buffer, end: number): boolean {
  let open = false;
  for (let at = line.indexOf(QUOTE); at !== -1 && at < end; at++) {
    const octet = line[at];
    if (octet === QUOTE) open = !open;
    else if (octet === BACKSLASH && open) at++;
  }
  return open;
}

/** The tag of a command, or `*` when it has no valid one. */
export function tagOf(line: Buffer): string {
  let at = 0;
  while (at < line.length && at < 100 && (CLASSES[line[at] ?? 0] ?? 0) & TAG) at++;
  return at > 0 && line[at] === 0x20 ? line.toString('latin1', 0, at) : '*';
}

/**
 * True when the literal at the end of `head` is a message for APPEND or REPLACE and not its mailbox name. `head` begins
 * with the tag, and is cut after 128 octets.
 */
export function isMessageLiteral(head: Buffer): boolean {
  return /^[^ ]{1,100} (?:APPEND |(?:UID )?REPLACE (?:\d{1,10}|\*) )./i.test(head.toString('latin1'));
}
