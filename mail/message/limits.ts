/** How much of a message is looked at. Beyond, it is still stored and returned whole; see MessageIndex.flattened. */
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
   * Multiparts and attached messages inside each other. Real mail stays below ten; imapflow gives up on a mailbox in
   * which one answer holds more than 25 parentheses inside each other, so a stranger could close it with one message.
   */
  depth: 20,
  parts: 1000,
  /** RFC 2046 5.1.1 allows 70 characters; senders do not always obey. */
  boundary: 200,
  /** Characters of ENVELOPE and BODYSTRUCTURE text that part headers may ask for. */
  structure: 768 * 1024,
  /** Octets of a text part that the preview is made from. */
  previewSource: 16 * 1024,
  /** Message ids kept for threading, own one included. */
  refs: 50,
} as const;

/** Longest line that can be a delimiter: dashes, boundary, dashes, and the padding of RFC 2046 5.1.1. */
export const DELIMITER_MAX = LIMITS.boundary + 100;
