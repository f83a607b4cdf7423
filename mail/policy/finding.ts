/** One thing that speaks against a message, or for it. */
export interface Finding {
  /** A stable name: `words`, `blocklist`, `look-alike`... */
  rule: string;
  /** Above 0 it speaks against the message. From {@link JUNK_FROM} on, all together, it is junk. */
  score: number;
  /**
   * For the person who gets it: a sentence without its full stop. Of the message it names at most domains and
   * addresses, as {@link plainWord} writes them.
   */
  why: string;
  /** Among the flags of the trust object: `phishing`, `executable-attachment`, `look-alike-domain`... */
  flag?: string;
  /**
   * Fraud that no mailbox wants to see: refused while the peer is still there. Whom the recipient allows may send it, but for
   * malware and programs.
   */
  refuse?: boolean;
}

/** A message whose scores come to this goes to Junk. */
export const JUNK_FROM = 5;

const LONGEST = 80;

/** What a stranger wrote, as it may stand in a sentence: one short word of visible ASCII. */
export function plainWord(text: string): string {
  const plain = text.replace(/[^\x21-\x7e]/g, '?');
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST)}...` : plain;
}
