import { type Part, unpackParts } from '../../message/parts.ts';
import { casemap } from '../../message/subject.ts';

/** A message that is in memory and has only ASCII characters. */
export interface AsciiText {
  /** Trace and blob. */
  text: string;
  /** Octets of its header with the empty line, trace included. */
  headerLength: number;
}

/** The stored parts of a message as JSON, with offsets from the begin of its blob. */
export interface PartTable {
  parts: string;
  traceLength: number;
}

/** True only if neither the header nor a body of a message contains one of the texts. */
export type LacksTexts = (message: AsciiText, table: PartTable) => boolean;

/**
 * Makes a test which proves that messages lack texts (in {@link casemap}) without decoding them; undefined if it can prove
 * nothing. Where nothing is encoded, a message that contains a text contains the letters of its words side by side.
 */
export function lackOf(texts: readonly string[]): LacksTexts | undefined {
  const words = texts.map((text) => letterRuns(text).slice(0, MAX_WORDS).map(inAnyCase));
  if (texts.length === 0 || words.some(({ length }) => length === 0)) return undefined;
  return ({ text, headerLength }, table) => {
    if (!words.every((some) => some.some((word) => !word.test(text)))) return false;
    return isPlainHeader(text.slice(0, headerLength)) && arePlainParts(text, table, texts);
  };
}

/** Words of a text that are looked for: the others say less and less. */
const MAX_WORDS = 4;
/** Characters of a word that are looked for. */
const MAX_LETTERS = 100;

/** Costs half as much as a copy of a message in upper case. */
function inAnyCase(word: string): RegExp {
  return new RegExp(word.slice(0, MAX_LETTERS), 'i');
}

/** The letters and digits of a text that stand side by side, in {@link casemap}; decoding a plain message joins none. */
export function letterRuns(text: string): readonly string[] {
  return text.match(/[0-9A-Z]+/g) ?? [];
}

/**
 * An address field whose letters ENVELOPE may join: by a comment or an escape, by a quote between letters, or by a blank in
 * an address. No alternative reads on beyond the word after it, so that the expression is linear.
 */
const JOINED =
  /^(?:from|to|cc|bcc|sender|reply-to)[ \t]*:(?:[^\r\n]|\r\n[ \t])*?(?:[(\\]|[^\s]"+[^\s@,;:<>]|[^\s<,;:]\s+[^\s<>,;:@]*@|@[^\s<>,;:@]*\s+[^\s<>,;:])/im;

/** Tests if decoding a header in ASCII joins no letters. */
export function isPlainHeader(header: string): boolean {
  return !header.includes('=?') && !JOINED.test(header);
}

/** Charsets in which ASCII octets are ASCII characters. */
const CHARSET = '(?:|us-ascii|ascii|utf-?8|iso-8859-\\d{1,2}|windows-125\\d)';
const IS_ASCII_CHARSET = new RegExp(`^${CHARSET}$`);
/** The usual message: its only part is text without transfer encoding. */
const PLAIN_ROOT = new RegExp(`^\\[\\["[^"]*","text","(?!html")[a-z-]+","${CHARSET}","(?:7bit|8bit|binary)",`);

function arePlainParts(text: string, { parts, traceLength }: PartTable, texts: readonly string[]): boolean {
  if (PLAIN_ROOT.test(parts) && !parts.includes('],[')) return true;
  return unpackParts(parts).every((part, i) => {
    if (isSearchedText(part) && !isPlainBody(part)) return false;
    // The header of the root is that of the message.
    if (i === 0) return true;
    const header = text.slice(traceLength + part.headerOffset, traceLength + part.bodyOffset);
    const name = casemap(part.filename);
    return !header.includes('=?') && !texts.some((one) => name.includes(one));
  });
}

/** A part whose body is searched. Delivery and disposition notifications are message/* and readable; message/rfc822 has parts of its own. */
export function isSearchedText({ type, subtype }: Part): boolean {
  return type === 'text' || (type === 'message' && subtype !== 'rfc822');
}

/** Tags and entities of HTML can stand within words. */
function isPlainBody({ subtype, encoding, charset }: Part): boolean {
  return !/^(?:base64|quoted-printable)$/.test(encoding) && subtype !== 'html' && IS_ASCII_CHARSET.test(charset);
}
