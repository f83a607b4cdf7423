/** Facts of a message that is only relayed and stored under no account. */
export interface MessageFacts {
  /** Octets of the message. */
  size: number;
  /** Own Message-ID with its angle brackets, as written; '' when missing. */
  messageId: string;
  /** Number of Received fields, for loop detection. */
  received: number;
}

/**
 * Index of a message after one pass over its octets: plain data, cloned across threads and stored with the message, so
 * that listing, sorting, threading and fetching parts never parse it again.
 *
 * Offsets count from the first octet of the indexed message, without the per-recipient trace lines (Return-Path,
 * Delivered-To), which are stored separately and prepended on output.
 */
export interface MessageIndex extends MessageFacts {
  /** Octets of the header including the empty line; equals `size` without one. */
  headerLength: number;
  /** Wire-ready ENVELOPE, `("date" "subject" ...)`. Always 7-bit: 8-bit text is encoded by RFC 2047. */
  envelope: string;
  /** Wire-ready BODYSTRUCTURE with all extension data. Always 7-bit. {@link bodyFromStructure} derives BODY. */
  bodyStructure: string;
  /** Part table in pre-order as JSON; see `packParts` and `unpackParts`. */
  parts: string;
  /** Up to 256 characters of readable text on one line, without control, bidi or zero-width characters. */
  preview: string;
  /** Subject, decoded; '' when missing. */
  subject: string;
  /** Base subject of RFC 5256 2.1 under {@link casemap}, for SORT SUBJECT and threading. */
  baseSubject: string;
  /**
   * Hashes of message ids for threading, at most 50: the own Message-ID (0n without one), then ids only in In-Reply-To,
   * then References in order, the last being the parent. 64-bit signed, as in SQLite; no id hashes to 0n.
   */
  refs: bigint[];
  /** The Date field as ms UTC, at least 1; 0 when missing or unreadable. */
  sentAt: number;
  /** Calendar day of the Date field in its own zone, days since 1970-01-01; -1 if sentAt is 0. For SENTON, SENTBEFORE. */
  sentDay: number;
  /** SORT keys of RFC 5256: mailbox name of the first address under {@link casemap}, '' when there is none. */
  fromKey: string;
  toKey: string;
  ccKey: string;
  /** SORT=DISPLAY keys of RFC 5957: decoded display name, else the address, under {@link casemap}. */
  fromDisplay: string;
  toDisplay: string;
  /** True if some part is neither text, inline image nor signature. */
  hasAttachment: boolean;
  /**
   * A limit of limits.ts was exceeded and the structure is simplified; size, headerLength and line counts stay exact.
   * Too many parts or fields, or too large a header, structure or boundary: a multipart message becomes one text/plain
   * part. Too deep: the innermost multipart becomes one text/plain part, an attached message one
   * application/octet-stream. Long fields are cut; excess addresses are left out.
   */
  flattened: boolean;
  /** It contains a secret link of this server, so its content is hidden from programs. The preview omits the link. */
  secretLink?: boolean;
}

/** Returns the index of a message that is stored here. Throws if only facts were read. */
export function requireIndex(known: MessageFacts | MessageIndex): MessageIndex {
  if ('envelope' in known) return known;
  throw new Error('a stored message requires a full index');
}
