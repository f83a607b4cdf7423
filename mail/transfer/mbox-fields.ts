import { ANSWERED, DELETED, DRAFT, FLAGGED, type NamedFlags, SEEN } from '../store/mailbox/flags.ts';

/** Octets of a header that are looked at for flags and labels. */
export const MAX_FIELD_HEADER = 64 * 1024;

/** Content-Length of a header and the octets of that header with its blank line; undefined: none. */
export function contentLengthIn(head: Buffer): { headerLength: number; contentLength: number } | undefined {
  const headerLength = headerEnd(head);
  if (headerLength === undefined) return undefined;
  const text = head.toString('latin1', 0, headerLength);
  const [, digits] = /^Content-Length:[ \t]*(\d{1,12})[ \t]*\r?$/im.exec(text) ?? [];
  return digits === undefined ? undefined : { headerLength, contentLength: Number(digits) };
}

/** Octets of a header with the blank line after it; undefined: it does not end here. */
export function headerEnd(head: Buffer): number | undefined {
  const [lf, crlf] = [head.indexOf('\n\n'), head.indexOf('\n\r\n')];
  if (crlf >= 0 && (lf < 0 || crlf < lf)) return crlf + 3;
  return lf >= 0 ? lf + 2 : undefined;
}

/** Unfolded values of a field in a header, the first of each name. */
export function headerFields(head: Buffer): Map<string, string> {
  const text = head.toString('utf8', 0, Math.min(head.length, headerEnd(head) ?? head.length));
  const fields = new Map<string, string>();
  for (const [, name = '', value = ''] of text.matchAll(/^([!-9;-~]{1,100}):[ \t]*((?:.*(?:\r?\n[ \t].*)*))/gm)) {
    const key = name.toLowerCase();
    if (!fields.has(key)) fields.set(key, value.replaceAll(/\r?\n(?=[ \t])/g, '').trim());
  }
  return fields;
}

const STATUS: Readonly<Record<string, number>> = { R: SEEN, A: ANSWERED, F: FLAGGED, T: DRAFT, D: DELETED };

/** X-Mozilla-Status of Thunderbird: bits of its database. */
const MOZILLA: readonly [number, number][] = [
  [0x0001, SEEN],
  [0x0002, ANSWERED],
  [0x0004, FLAGGED],
];
const MOZILLA_EXPUNGED = 0x0008;

/** Field of Google Takeout with the labels of a message, above those that it was received with. */
export const GMAIL_LABELS = 'x-gmail-labels';
/** Fields with keywords in an mbox file. */
export const KEYWORD_FIELDS: readonly string[] = ['x-keywords', 'x-mozilla-keys'];

/**
 * Tests if one of the fields may have come with the message: it stands below a field that a server added on the way.
 * A program that writes it there itself looks the same.
 */
export function maySenderHaveSet(fields: ReadonlyMap<string, string>, names: readonly string[]): boolean {
  const order = [...fields.keys()];
  const trace = order.findIndex((name) => name === 'received' || name === 'return-path' || name === 'delivered-to');
  return trace >= 0 && names.some((name) => order.indexOf(name) > trace);
}

/** Flags of a message in an mbox file: Status, X-Status, X-Keywords, X-Mozilla-Status. Undefined: deleted there. */
export function mboxFlags(fields: ReadonlyMap<string, string>): NamedFlags | undefined {
  let bits = 0;
  for (const letter of `${fields.get('status') ?? ''}${fields.get('x-status') ?? ''}`) bits |= STATUS[letter] ?? 0;
  const mozilla = Number.parseInt(fields.get('x-mozilla-status') ?? '0', 16);
  if ((mozilla & MOZILLA_EXPUNGED) !== 0) return undefined;
  for (const [theirs, ours] of MOZILLA) if ((mozilla & theirs) !== 0) bits |= ours;
  const words = KEYWORD_FIELDS.flatMap((name) => fields.get(name)?.split(/[ ,]+/) ?? []);
  return { bits, keywords: keywordsOf(words) };
}

/** Words as keywords; those that IMAP cannot name are left out, and doubled ones. */
export function keywordsOf(words: readonly string[]): string[] {
  const found = new Map<string, string>();
  for (const word of words) {
    if (/^[^\x00-\x20\x7f-\uffff(){%*"\\\]]{1,64}$/.test(word)) found.set(word.toLowerCase(), word);
  }
  return [...found.values()].slice(0, 60);
}
