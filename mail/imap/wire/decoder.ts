import type { FlagSet } from '../needs.ts';
import type { SequenceSet } from './sequence-set.ts';

export interface DecoderOptions {
  /** After ENABLE UTF8=ACCEPT or IMAP4rev2: mailbox names are UTF-8, `&` is an ordinary character. */
  utf8?: boolean;
  /** How many lists may be open at once. One before login, RFC 9051 needs few afterwards. */
  lists?: number;
}

/**
 * Reads one complete command (literals included, without the final CRLF) by the words of RFC 9051 section 9. Each
 * method answers a value and moves on, or throws ImapSyntaxError; none knows of accounts, mailboxes or state.
 */
export declare class Decoder {
  constructor(bytes: Buffer, options?: DecoderOptions);
  readonly utf8: boolean;
  /** True when everything was read. */
  get done(): boolean;
  /** Nothing may follow. */
  end(): void;
  /** Exactly one space. */
  sp(): this;
  /** Reads `text` without regard to case when it comes next, and says whether it did. */
  maybe(text: string): boolean;
  /** True when `text` comes next (without regard to case); reads nothing. */
  ahead(text: string): boolean;
  /** Reads `text` without regard to case. */
  expect(text: string): this;
  tag(): string;
  atom(): string;
  /** An atom in upper case: a command, a search key, an option. */
  word(): string;
  /** Letters, digits, `.` and `-` in upper case: the name of a FETCH item, which ends at `[`. */
  name(): string;
  /** Text of atom, quoted string or literal: UTF-8, or Latin-1 where it is not that. */
  astring(): string;
  string(): string;
  nstring(): string | null;
  /** The octets of an astring or string as they came. */
  astringBytes(): Buffer;
  stringBytes(): Buffer;
  literal(): Buffer;
  number(): number;
  nzNumber(): number;
  /** `number64` and mod-sequences; refused beyond 2^53-1, which no counter of ours reaches. */
  number64(): number;
  /** `(a b c)`, also `()`; `read` reads one element. */
  list<T>(read: (d: this) => T): T[];
  /** One flag as written: `\Seen`, or a keyword. */
  flag(): string;
  /** `(\Seen keyword)`; \Recent is dropped, an unknown system flag is refused, keywords come once each. */
  flagList(): FlagSet;
  /** What STORE takes: a list, or flags with spaces between them. */
  flags(): FlagSet;
  sequenceSet(): SequenceSet;
  /** Canonical name: UTF-8 NFC, `INBOX` in upper case (also as parent), no trailing `/`. */
  mailbox(): string;
  /** The reference name of LIST: like a mailbox, but may be empty or end in `/`, and is not checked. */
  reference(): string;
  /** The pattern of LIST and LSUB in UTF-8, with `%` and `*`; may be empty. */
  listMailbox(): string;
  /** INTERNALDATE for APPEND, ms UTC. */
  dateTime(): number;
  /** A calendar day of SEARCH, in days since 1970-01-01. */
  date(): number;
}
