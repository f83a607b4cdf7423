import type { ColumnField, KeyColumn } from './column-names.ts';

/** Numbers of one message. */
export interface BaseRow {
  uid: number;
  /** RFC822.SIZE. */
  size: number;
  /** INTERNALDATE, ms UTC. */
  receivedAt: number;
  /** MessageIndex.sentAt and sentDay. */
  sentAt: number;
  sentDay: number;
}

/** A text by which messages are sorted. */
export interface KeyRow {
  uid: number;
  key: string;
}

/** Facts of one message for THREAD. */
export interface ThreadingRow {
  uid: number;
  /** MessageIndex.refs as stored. */
  refs: Uint8Array;
  /** Subject, decoded. */
  subject: string;
  /** MessageIndex.baseSubject. */
  baseSubject: string;
  /** Wire-ready ENVELOPE. */
  envelope: string;
}

/** The decoded header of a message; undefined: its octets cannot be read now. */
export interface HeaderRow {
  uid: number;
  header: string | undefined;
}

/**
 * Where {@link MailboxColumns} are read from: messages of one mailbox with UIDs above `after`, ascending, at most `limit`.
 * Expunged messages are left out.
 */
export interface ColumnSource {
  base(after: number, limit: number): Promise<BaseRow[]> | BaseRow[];
  keys(column: KeyColumn, after: number, limit: number): Promise<KeyRow[]> | KeyRow[];
  threading(after: number, limit: number): Promise<ThreadingRow[]> | ThreadingRow[];
  headers(uids: readonly number[]): Promise<HeaderRow[]> | HeaderRow[];
  /** Yields to other queries when its time slice is over. */
  pause?(): Promise<void> | undefined;
}

export type { ColumnField, KeyColumn };
