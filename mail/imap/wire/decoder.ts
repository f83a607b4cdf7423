import type { FlagSet } from '../imap-store.ts';
import { parseImapDate, parseDateTime } from './dates.ts';
import { flagSet } from './flags.ts';
import { ASTRING, ATOM, CLASSES, DIGIT, LIST, NAME, TAG } from './grammar.ts';
import { canonicalName, fromUtf7 } from './mailbox-name.ts';
import { SAVED_RESULT, STAR, type SequenceRange, type SequenceSet } from './sequence-set.ts';
import { ImapSyntaxError, InvalidNameError } from './syntax-error.ts';
import { textOf } from './text.ts';

export interface DecoderOptions {
  /** Mailbox names are UTF-8 and `&` is an ordinary character: after ENABLE UTF8=ACCEPT or IMAP4rev2. */
  utf8?: boolean;
  /** Nested lists. One is enough before login. */
  lists?: number;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const TILDE = 0x7e;

const MAX_32 = 4_294_967_295;

/**
 * Parses one complete command (with literals, without the final CRLF) by the grammar of RFC 9051 section 9. Each method
 * returns a value and advances, or throws ImapSyntaxError; none depends on the session.
 */
export class Decoder {
  readonly utf8: boolean;
  private readonly bytes: Buffer;
  private at = 0;
  private open = 0;
  private readonly lists: number;
  /** Decodes the strings of the command; SEARCH replaces it by that of its CHARSET. */
  decodeText: (octets: Buffer) => string = textOf;

  constructor(bytes: Buffer, options: DecoderOptions = {}) {
    this.bytes = bytes;
    this.utf8 = options.utf8 ?? false;
    this.lists = options.lists ?? 50;
  }

  /** True when everything was read. */
  get done(): boolean {
    return this.at === this.bytes.length;
  }

  /** Requires the end of the command. Accepts trailing spaces: several clients send one. */
  end(): void {
    if (!this.trailing()) throw new ImapSyntaxError('Unexpected text at the end of the command');
  }

  /** True when only spaces remain; they are then skipped. */
  trailing(): boolean {
    let { at } = this;
    while (this.bytes[at] === SPACE) at++;
    if (at === this.bytes.length) this.at = at;
    return this.done;
  }

  /** Exactly one space. */
  sp(): this {
    if (this.bytes[this.at] !== SPACE) throw new ImapSyntaxError(this.done ? 'Missing argument' : 'Expected a space');
    this.at++;
    return this;
  }

  /** Skips `text`, ignoring case, if it comes next; returns true if it did. */
  maybe(text: string): boolean {
    const found = this.ahead(text);
    if (found) this.at += text.length;
    return found;
  }

  /** True when `text` comes next, ignoring case except for single characters; reads nothing. */
  ahead(text: string): boolean {
    if (text.length === 1 && this.bytes[this.at] !== text.charCodeAt(0)) return false;
    const next = this.bytes.toString('latin1', this.at, this.at + text.length);
    return next === text || next.toUpperCase() === text.toUpperCase();
  }

  /** Requires `text`, ignoring case. */
  expect(text: string): this {
    if (!this.maybe(text)) throw new ImapSyntaxError(`Expected ${text === ' ' ? 'a space' : text}`);
    return this;
  }

  /** True when a digit, `*` or `$` comes next. */
  sequenceAhead(): boolean {
    return ((CLASSES[this.bytes[this.at] ?? 0] ?? 0) & DIGIT) !== 0 || this.ahead('*') || this.ahead('$');
  }

  /** The unread rest, verbatim. */
  rest(): Buffer {
    const rest = this.bytes.subarray(this.at);
    this.at = this.bytes.length;
    return rest;
  }

  tag(): string {
    const tag = this.run(TAG);
    if (tag === '') throw new ImapSyntaxError('Invalid tag');
    return tag;
  }

  atom(): string {
    const atom = this.run(ATOM);
    if (atom === '') throw new ImapSyntaxError(this.done ? 'Missing argument' : 'Expected an atom');
    return atom;
  }

  /** An atom in upper case: a command, a search key, an option. */
  word(): string {
    return this.atom().toUpperCase();
  }

  /** Letters, digits, `.` and `-` in upper case: the name of a FETCH item, which ends at `[`. */
  name(): string {
    const name = this.run(NAME);
    if (name === '') throw new ImapSyntaxError(this.done ? 'Missing argument' : 'Expected a name');
    return name.toUpperCase();
  }

  /** Text of an atom, quoted string or literal: UTF-8, or Latin-1 when it is not valid UTF-8. */
  astring(): string {
    return this.decodeText(this.astringBytes());
  }

  string(): string {
    return textOf(this.stringBytes());
  }

  nstring(): string | null {
    return this.isString() ? this.string() : this.nil();
  }

  /** The octets of an astring. */
  astringBytes(): Buffer {
    return this.isString() ? this.stringBytes() : this.bare(ASTRING);
  }

  stringBytes(): Buffer {
    if (this.bytes[this.at] === QUOTE) return this.quoted();
    if (this.bytes[this.at] === BRACE) return this.literal();
    throw new ImapSyntaxError(this.done ? 'Missing argument' : 'Expected a string');
  }

  /** `{n}`, `{n+}` or `~{n}` with its octets, which the command reader has collected. */
  literal(): Buffer {
    const binary = this.bytes[this.at] === TILDE;
    if (binary) this.at++;
    this.expect('{');
    const size = this.number64();
    this.maybe('+');
    this.expect('}').maybe('\r');
    this.expect('\n');
    if (size > this.bytes.length - this.at) throw new ImapSyntaxError('Literal is incomplete');
    const octets = this.bytes.subarray(this.at, (this.at += size));
    // RFC 9051 9: CHAR8 has no NUL; only literal8 may carry it.
    if (!binary && octets.includes(0)) throw new ImapSyntaxError('NUL is not allowed in a literal');
    return octets;
  }

  number(): number {
    const value = this.number64();
    if (value > MAX_32) throw new ImapSyntaxError('Number is too large');
    return value;
  }

  nzNumber(): number {
    const value = this.number();
    if (value === 0) throw new ImapSyntaxError('Number must not be zero');
    return value;
  }

  /** `number64` and mod-sequences; at most 2^53-1, which no stored counter reaches. */
  number64(): number {
    const digits = this.run(DIGIT);
    if (digits === '') throw new ImapSyntaxError('Expected a number');
    const value = Number(digits);
    if (value > Number.MAX_SAFE_INTEGER) throw new ImapSyntaxError('Number is too large');
    return value;
  }

  /** A mod-sequence, at most 2^63-1; a greater one than any stored is as good as the greatest safe number. RFC 7162 7. */
  modseq(): number {
    const digits = this.run(DIGIT);
    if (digits === '') throw new ImapSyntaxError('Expected a mod-sequence');
    if (digits.length > 19 || Number(digits) > 2 ** 63) throw new ImapSyntaxError('Mod-sequence is too large');
    return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
  }

  /** `(a b c)`, also `()`; `read` reads one element. */
  list<T>(read: (d: this) => T): T[] {
    this.expect('(');
    if (++this.open > this.lists) throw new ImapSyntaxError('Lists are nested too deeply');
    const items: T[] = [];
    while (!this.maybe(')')) {
      if (items.length > 0) this.sp();
      items.push(read(this));
    }
    this.open--;
    return items;
  }

  /** One flag as written: `\Seen`, or a keyword. */
  flag(): string {
    const flag = this.maybe('\\') ? `\\${this.atom()}` : this.atom();
    if (flag.length > 255) throw new ImapSyntaxError('Flag is too long');
    return flag;
  }

  /** `(\Seen keyword)`; \Recent is dropped, an unknown system flag is refused, keywords come once each. */
  flagList(): FlagSet {
    return toFlags(this.list((d) => d.flag()));
  }

  /** Flags of STORE: a list, or flags separated by spaces. */
  flags(): FlagSet {
    if (this.ahead('(')) return this.flagList();
    const names = [this.flag()];
    while (!this.trailing()) names.push(this.sp().flag());
    return toFlags(names);
  }

  /** A set, or `$` alone. */
  sequenceSet(): SequenceSet {
    if (this.maybe('$')) return SAVED_RESULT;
    const set: SequenceRange[] = [];
    do {
      const from = this.sequenceNumber();
      const to = this.maybe(':') ? this.sequenceNumber() : from;
      set.push({ from, to });
    } while (this.maybe(','));
    return set;
  }

  private sequenceNumber(): number {
    return this.maybe('*') ? STAR : this.nzNumber();
  }

  /** Canonical name: UTF-8 NFC, `INBOX` in upper case (also as parent), no trailing `/`. */
  mailbox(): string {
    const name = canonicalName(this.reference());
    if (name === undefined) throw new InvalidNameError();
    return name;
  }

  /** The reference name of LIST: like a mailbox, but may be empty or end in `/`, and is not checked. */
  reference(): string {
    return this.mailboxText(this.astringBytes());
  }

  /** The pattern of LIST and LSUB in UTF-8, with `%` and `*`; may be empty. */
  listMailbox(): string {
    return this.mailboxText(this.isString() ? this.stringBytes() : this.bare(LIST));
  }

  /** INTERNALDATE for APPEND, ms UTC. */
  dateTime(): number {
    const time = parseDateTime(this.quoted().toString('latin1'));
    if (time === undefined) throw new ImapSyntaxError('Invalid date-time');
    return time;
  }

  /** A calendar day of SEARCH, with or without quotes, in days since 1970-01-01. */
  date(): number {
    const day = parseImapDate(this.isString() ? this.string() : this.atom());
    if (day === undefined) throw new ImapSyntaxError('Invalid date');
    return day;
  }

  private nil(): null {
    if (this.atom().toUpperCase() !== 'NIL') throw new ImapSyntaxError('Expected a string or NIL');
    return null;
  }

  private isString(): boolean {
    return this.bytes[this.at] === QUOTE || this.bytes[this.at] === BRACE;
  }

  private mailboxText(octets: Buffer): string {
    const text = textOf(octets);
    return this.utf8 ? text : fromUtf7(text);
  }

  private bare(classes: number): Buffer {
    const start = this.at;
    this.skip(classes);
    if (this.at === start) throw new ImapSyntaxError(this.done ? 'Missing argument' : 'Expected a string');
    return this.bytes.subarray(start, this.at);
  }

  private run(classes: number): string {
    const start = this.at;
    this.skip(classes);
    return this.bytes.toString('latin1', start, this.at);
  }

  private skip(classes: number): void {
    const { bytes } = this;
    let at = this.at;
    while (at < bytes.length && CLASSES[bytes[at] ?? 0]! & classes) at++;
    this.at = at;
  }

  // Only `\"` and `\\` are escapes. Accepts 8-bit: clients send UTF-8 and Latin-1 without negotiation.
  private quoted(): Buffer {
    if (this.bytes[this.at] !== QUOTE)
      throw new ImapSyntaxError(this.done ? 'Missing argument' : 'Expected a quoted string');
    const start = this.at + 1;
    let escaped = false;
    for (let at = start; at < this.bytes.length; at++) {
      const octet = this.bytes[at] ?? 0;
      if (octet === QUOTE) {
        this.at = at + 1;
        const octets = this.bytes.subarray(start, at);
        return escaped ? unescaped(octets) : octets;
      }
      if (octet === 0 || octet === 0x0d || octet === 0x0a) break;
      if (octet !== BACKSLASH) continue;
      const next = this.bytes[++at];
      if (next !== QUOTE && next !== BACKSLASH) throw new ImapSyntaxError('Invalid escape in a quoted string');
      escaped = true;
    }
    throw new ImapSyntaxError('Unterminated quoted string');
  }
}

function unescaped(octets: Buffer): Buffer {
  return Buffer.from(octets.toString('latin1').replace(/\\(.)/g, '$1'), 'latin1');
}

function toFlags(names: readonly string[]): FlagSet {
  const set = flagSet(names);
  if (set === undefined) throw new ImapSyntaxError('Unknown system flag');
  return set;
}
