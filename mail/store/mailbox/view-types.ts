/** One change of a mailbox that sessions report to their clients. */
export interface ViewChange {
  /** Mod-sequence of its command; each command has one. */
  modseq: number;
  /** UIDs whose flags changed. */
  flags: readonly number[];
}

/**
 * View of one mailbox that is shared by its sessions. The store updates it after each commit, before the promise of the
 * command resolves; sessions compare it with what they last reported.
 */
export interface MailboxView {
  readonly account: number;
  readonly mailbox: number;
  readonly uidValidity: number;
  readonly uidNext: number;
  readonly highestModseq: number;
  /**
   * Ascending UIDs, of which the first `length` are valid. New messages are appended to the same array; an expunge
   * creates a new one. So a session stores (array, count) as its sequence numbers at no cost, and `view.uids ===
   * session.uids` means that nothing was expunged since.
   */
  readonly uids: Uint32Array;
  readonly length: number;
  /** Index of a UID in `uids`, or -1. */
  indexOf(uid: number): number;
  /** First UID that no session was notified of. RFC 3501 2.3.2. */
  readonly recentFrom: number;
  /** Claims the messages that no session was notified of: those from the returned UID on are \Recent for the caller alone. */
  claimRecent(): number;
  /** System flags and keyword slots of a UID as bits; 0 for an expunged UID. */
  bits(uid: number): number;
  modseq(uid: number): number;
  /** UIDs whose mod-sequence is above `modseq`, ascending. */
  uidsChangedSince(modseq: number): Uint32Array;
  /** Flag names as sent on the wire: system flags first, then keywords in their first spelling. */
  flagNames(uid: number): readonly string[];
  /** All keywords known to the account, for FLAGS and PERMANENTFLAGS. Grows; compare the length. */
  readonly keywords: readonly string[];
  /**
   * Flag changes with a mod-sequence above `since`, oldest first; undefined if they are no longer recorded: compare
   * all.
   */
  changesSince(since: number): readonly ViewChange[] | undefined;
  /** Calls back after a change of the view, in the same tick. Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void;
  /** The mailbox was deleted, or its UIDVALIDITY changed: sessions must leave. */
  readonly gone: boolean;
  close(): void;
}
