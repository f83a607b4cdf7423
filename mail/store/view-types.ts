/** One change of a mailbox that sessions have to tell their clients. */
export interface ViewChange {
  /** Mod-sequence of the command that made it. One command, one mod-sequence. */
  modseq: number;
  /** UIDs whose flags changed. */
  flags: readonly number[];
}

/**
 * What is known of one mailbox by every session that has it open. The store brings it up to date after each commit,
 * before the promise of the command resolves; sessions compare it with what they last told their client.
 */
export interface MailboxView {
  readonly account: number;
  readonly mailbox: number;
  readonly uidValidity: number;
  readonly uidNext: number;
  readonly highestModseq: number;
  /**
   * Ascending UIDs, the first `length` of them valid. Messages that arrive are written behind the end of the same
   * array; an expunge makes a new array. So a session keeps (array, count) as its sequence numbers at no cost, and
   * `view.uids === session.uids` means that nothing was expunged since.
   */
  readonly uids: Uint32Array;
  readonly length: number;
  /** Index of a UID in `uids`, or -1. */
  indexOf(uid: number): number;
  /** System flags and keyword slots of a UID as bits; 0 for a UID that is gone. */
  bits(uid: number): number;
  modseq(uid: number): number;
  /** Flag names as they go on the wire: system flags first, then keywords in their first spelling. */
  flagNames(uid: number): readonly string[];
  /** All keywords known to the account, for FLAGS and PERMANENTFLAGS. Grows; compare the length. */
  readonly keywords: readonly string[];
  /** The flag changes with a mod-sequence above `since`, oldest first; undefined when that is too long ago: compare all. */
  changesSince(since: number): readonly ViewChange[] | undefined;
  /** Calls back after the view changed, in the same tick. Answers the function that ends it. */
  onChange(listener: () => void): () => void;
  /** The mailbox was deleted, or its UIDVALIDITY changed: sessions must leave. */
  readonly gone: boolean;
  close(): void;
}
