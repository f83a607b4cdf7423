/** Result of one check: a fact that speaks for or against a message. */
export interface Finding {
  /** Stable rule name: `words`, `blocklist`, `look-alike`... */
  rule: string;
  /** Positive: against the message. A sum of {@link JUNK_THRESHOLD} or more is junk. */
  score: number;
  /**
   * Reason for the recipient: a sentence without its full stop. It quotes at most domains and addresses of the message,
   * sanitized by {@link sanitizeWord}.
   */
  why: string;
  /** Flag of the trust object: `phishing`, `executable-attachment`, `look-alike-domain`... */
  flag?: string;
  /**
   * Rejects the message at the end of DATA, since it is fraud. An allow rule of the recipient overrides it, except for
   * malware and programs.
   */
  refuse?: boolean;
}

/** Sum of scores from which a message is filed in Junk. */
export const JUNK_THRESHOLD = 5;

const MAX_WORD = 80;

/** Sanitizes untrusted text for use in a sentence: one short word of visible ASCII. */
export function sanitizeWord(text: string): string {
  const plain = text.replace(/[^\x21-\x7e]/g, '?');
  return plain.length > MAX_WORD ? `${plain.slice(0, MAX_WORD)}...` : plain;
}
