/** Parsing limits. Larger messages are still stored and returned whole; see MessageIndex.flattened. */
export const LIMITS = {
  /** Octets of one header block (the message's, a part's, an attached message's). */
  header: 256 * 1024,
  /** Octets of one header field; the rest of the field is not read. */
  field: 100 * 1024,
  /** Fields of one header block. */
  fields: 1000,
  /** Addresses of all address fields together. */
  addresses: 2000,
  /**
   * Nesting of multiparts and attached messages. Real mail stays below ten. imapflow fails on a response with more than 25
   * nested parentheses, so that one message could block a mailbox.
   */
  depth: 20,
  parts: 1000,
  /** RFC 2046 5.1.1 allows 70 characters; some senders exceed it, and other servers read them. */
  boundary: 2048,
  /** Characters of ENVELOPE and BODYSTRUCTURE text. */
  structure: 768 * 1024,
  /** Octets of a text part read for the preview. */
  previewSource: 16 * 1024,
  /** Message ids stored for threading, the own one included. */
  refs: 50,
} as const;

/** Octets of a delimiter line: dashes, boundary, dashes, and padding. RFC 2046 5.1.1. */
export const DELIMITER_MAX = LIMITS.boundary + 100;
