import { decodeCharset, decodeTransfer } from '../../message/decode.ts';
import { decodeWords } from '../../message/encoded-word.ts';
import { type HeaderAddress, parseAddressList } from '../../message/header-addresses.ts';
import { readFields, unfold, type Field } from '../../message/header.ts';
import { LIMITS } from '../../message/limits.ts';
import { unpackParts, type Part } from '../../message/parts.ts';
import { casemap } from '../../message/subject.ts';
import { isPlainHeader, isSearchedText, letterRuns } from './lacks-texts.ts';
import { plainText } from './plain-text.ts';
import type { BodyFacts, HeaderFacts } from './matcher.ts';

/** Characters case-folded at once: folding needs several times the memory of the text. */
const WINDOW = 256 * 1024;

/**
 * The decoded header of a message, one character an octet, for HEADER, SUBJECT, FROM and the like, and TEXT. It is decoded
 * when it may contain a text.
 */
export function headerFacts(header: string): HeaderFacts {
  const mayContain = once(() => plainHeader(header));
  const facts = once(() => decodedFacts(header));
  return {
    field: (name, text) => mayContain()(text) && facts().field(name, text),
    anywhere: (text) => mayContain()(text) && facts().anywhere(text),
  };
}

/**
 * Returns a test that is false only if a header does not contain a text (in {@link casemap}). A plain header contains each
 * word of the text as it stands; what is between the words may differ.
 */
function plainHeader(header: string): (text: string) => boolean {
  if (/[^\0-\x7f]/.test(header) || !isPlainHeader(header)) return () => true;
  const upper = header.toUpperCase();
  return (text) => letterRuns(text).every((word) => upper.includes(word));
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Folded texts of fields by name; fields that a header does not have are left out. */
export function fieldTexts(header: string, names: readonly string[]): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const { name, value } of fieldsOf(header)) {
    if (!names.includes(name)) continue;
    const values = texts.get(name) ?? [];
    texts.set(name, values);
    for (const text of valueTexts(name, value)) values.push(text);
  }
  return texts;
}

/** The folded value as written, and addresses as ENVELOPE shows them if they differ. RFC 9051 6.4.4, FROM. */
function valueTexts(name: string, value: string): string[] {
  const written = casemap(decodeWords(unfold(value)));
  if (!ADDRESS_FIELDS.has(name) || !REWRITTEN.test(value)) return [written];
  const shown = casemap(addressTexts(parseAddressList(value.slice(0, LIMITS.field), LIMITS.addresses)));
  return written.includes(shown) ? [written] : [written, shown];
}

const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['from', 'to', 'cc', 'bcc', 'sender', 'reply-to']);

/** Comments, quotes and blanks around an address, which ENVELOPE does not show. */
const REWRITTEN = /[(\\"]|\s[@.]|[@.]\s|<\s|\s>/;

function addressTexts(list: readonly HeaderAddress[]): string {
  const texts = list.map(({ name, mailbox, host }) => {
    if (host === undefined) return mailbox === undefined ? ';' : `${mailbox}:`;
    const address = `${mailbox ?? ''}@${host}`;
    return name === undefined || name === '' ? address : `${decodeWords(name)} <${address}>`;
  });
  return texts.join(', ');
}

function decodedFacts(header: string): HeaderFacts {
  const byName = Map.groupBy(fieldsOf(header), ({ name }) => name);
  const folded = new Map<string, string[]>();
  const values = (name: string): string[] => {
    let texts = folded.get(name);
    if (texts === undefined) {
      texts = (byName.get(name) ?? []).flatMap((field) => valueTexts(name, field.value));
      folded.set(name, texts);
    }
    return texts;
  };
  let lines: string | undefined;
  const allLines = (): string => {
    const names = [...byName.keys()];
    // No search text contains the separator.
    return (lines ??= names.flatMap((name) => values(name).map((text) => `${casemap(name)}: ${text}`)).join('\0'));
  };
  return {
    field: (name, text) => values(name).some((value) => value.includes(text)),
    anywhere: (text) => allLines().includes(text),
  };
}

/** Yields to other searches; false when the time limit is reached. */
export type SearchPause = () => Promise<boolean> | boolean;

/**
 * Finds texts (in {@link casemap}) in a message: in every text part in its charset (HTML with and without tags), file
 * names, and the headers of attached messages. Each part is decoded and folded once for all texts. `offset`: begin of the
 * indexed blob. Incomplete after the time limit.
 */
export async function bodyFacts(
  octets: Uint8Array,
  { parts, offset, texts }: { parts: string; offset: number; texts: readonly string[] },
  pause: SearchPause = () => true,
): Promise<BodyFacts> {
  const blob = octets.subarray(offset);
  const found = new Set<string>();
  for (const [i, part] of unpackParts(parts).entries()) {
    for (const piece of piecesOf(blob, part, i > 0, overlapOf(texts))) {
      for (const text of texts) if (!found.has(text) && piece.includes(text)) found.add(text);
      if (found.size === texts.length || !(await pause())) return found;
    }
  }
  return found;
}

/** The folded texts of a part. `about`: with its file name and header. */
function* piecesOf(blob: Uint8Array, part: Part, about: boolean, overlap: number): Iterable<string> {
  if (about) {
    yield casemap(part.filename);
    const header = fieldsOf(latin1(blob.subarray(part.headerOffset, part.bodyOffset)));
    yield header.map(({ name, value }) => casemap(`${name}: ${decodeWords(unfold(value))}`)).join('\0');
  }
  if (!isSearchedText(part)) return;
  for (const text of textsOf(blob, part))
    for (let at = 0; at < text.length; at += WINDOW) yield casemap(text.slice(at, at + WINDOW + overlap));
}

/** Characters by which windows overlap: the longest text before folding. */
function overlapOf(texts: readonly string[]): number {
  return 64 + 4 * texts.reduce((most, { length }) => Math.max(most, length), 0);
}

function textsOf(blob: Uint8Array, part: Part): string[] {
  const octets = blob.subarray(part.bodyOffset, part.bodyOffset + part.bodyLength);
  const text = decodeCharset(decodeTransfer(octets, part.encoding), part.charset);
  return part.subtype === 'html' ? [text, plainText(text)] : [text];
}

function fieldsOf(header: string): Field[] {
  return readFields(header.slice(0, LIMITS.header), LIMITS.fields).filter(({ name }) => name !== '');
}

function latin1(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, Math.min(octets.length, LIMITS.header)).toString('latin1');
}
