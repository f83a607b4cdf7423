/** What is known of a message of which nothing is stored under an account: it only passes through. */
export interface MessageFacts {
  /** Octets of the message. */
  size: number;
  /** Own Message-ID with its angle brackets, as written; '' when missing. */
  messageId: string;
  /** Received fields at the top; the loop guard counts them. */
  received: number;
}

/**
 * What is known of a message after one pass over its bytes: plain data that is cloned across threads and stored beside
 * the message, so that listing, sorting, threading and fetching parts never parse it again.
 *
 * All offsets count from the first octet of the indexed bytes. The per-recipient trace lines (Return-Path,
 * Delivered-To) that are stored apart and put in front on the way out are not among them.
 */
export interface MessageIndex extends MessageFacts {
  /** Octets of the header with the empty line that ends it; equal to size when there is no such line. */
  headerLength: number;
  /** Wire-ready ENVELOPE, `("date" "subject" ...)`. Always 7-bit: what is 8-bit in the message is written in RFC 2047. */
  envelope: string;
  /** Wire-ready BODYSTRUCTURE with all extension data. Always 7-bit. {@link bodyOf} makes BODY of it. */
  bodyStructure: string;
  /** The part table in pre-order as JSON; `packParts` and `unpackParts` of parts.ts know its columns. */
  parts: string;
  /** Up to 256 characters of readable text on one line, without control, bidi or zero-width characters. */
  preview: string;
  /** Subject, decoded; '' when missing. */
  subject: string;
  /** Base subject of RFC 5256 2.1 under {@link casemap}: what SORT SUBJECT and threading compare. */
  baseSubject: string;
  /**
   * Hashes of message ids for threading, at most 50. The first is the own Message-ID, or 0n when there is none; then,
   * each once, what In-Reply-To names but References does not, then References in order: the last is the parent.
   * 64-bit signed, as SQLite holds them; no id hashes to 0n.
   */
  refs: bigint[];
  /** The Date field as ms UTC, at least 1; 0 when missing or unreadable. */
  sentAt: number;
  /** The Date field's own calendar day, zone disregarded, in days since 1970-01-01; -1 when sentAt is 0. SENTON, SENTBEFORE. */
  sentDay: number;
  /** SORT keys of RFC 5256: mailbox name of the first address under {@link casemap}, '' when there is none. */
  fromKey: string;
  toKey: string;
  ccKey: string;
  /** SORT=DISPLAY keys of RFC 5957: decoded display name, else the address, under {@link casemap}. */
  fromDisplay: string;
  toDisplay: string;
  /** True when a reader should be shown a paper clip: some part is neither text, inline picture nor signature. */
  hasAttachment: boolean;
  /**
   * A limit of limits.ts was passed and something is simplified; size, headerLength and line counts stay exact.
   * Too many parts or fields, too large a header, structure or boundary: a message with parts is shown as one text/plain
   * part over its whole body. Too deep: the innermost multipart that is left is shown as one text/plain part, an
   * attached message as one application/octet-stream. A field that is too long is cut; addresses beyond are left out.
   */
  flattened: boolean;
  /** It carries a link to a secret page of this server: programs are not shown what it says. The preview is without it. */
  secretLink?: boolean;
}

/** The index of a message that somebody here gets. Throws when only facts were read of it. */
export function wholeIndex(known: MessageFacts | MessageIndex): MessageIndex {
  if ('envelope' in known) return known;
  throw new Error('a message that is stored here needs its whole index');
}
