import type { MailboxView } from '../store/view-types.ts';
import type { SearchProgram } from './search/program.ts';

export type { MailboxView, ViewChange } from '../store/view-types.ts';

export type MailboxRole = 'inbox' | 'drafts' | 'sent' | 'junk' | 'trash' | 'archive';

/** One IMAP mailbox as LIST and STATUS see it; counters come from the row, never from counting. */
export interface MailboxInfo {
  id: number;
  /** Full name in UTF-8 NFC with '/' between levels; the inbox is always `INBOX`. */
  name: string;
  role: MailboxRole | null;
  subscribed: boolean;
  hasChildren: boolean;
  uidValidity: number;
  uidNext: number;
  total: number;
  unseen: number;
  deleted: number;
  /** Octets of all messages. */
  bytes: number;
  highestModseq: number;
}

/** System flags as bits 0 to 4, and keywords by name. `\Recent` does not exist here. */
export interface FlagSet {
  bits: number;
  keywords: readonly string[];
}

export const SEEN = 1;
export const ANSWERED = 2;
export const FLAGGED = 4;
export const DRAFT = 8;
export const DELETED = 16;

/** One message's stored facts. Texts are wire-ready latin1. */
export interface MessageRow {
  uid: number;
  emailId: number;
  threadId: number;
  /** RFC822.SIZE: octets of trace and blob together. */
  size: number;
  /** INTERNALDATE, ms UTC. */
  receivedAt: number;
  /** Present when asked for with `structure`. Offsets in `parts` are relative to the blob, which follows the trace. */
  structure?: { envelope: string; bodyStructure: string; parts: string; headerLength: number };
  content: ContentRef;
}

/** Where the bytes of a message are: a few trace header lines of this recipient's own, then the blob. */
export interface ContentRef {
  trace: string;
  blob: number;
  /** Octets of the blob. */
  length: number;
  /** Octet of the blob from which on programs are shown nothing of it; null: they are shown all. */
  veiledFrom: number | null;
}

export interface AppendSink {
  /** A promise means: wait for it before the next chunk. Bare LF and bare CR become CRLF. */
  write(chunk: Buffer): Promise<void> | undefined;
  finish(into: { mailbox: string; flags: FlagSet; receivedAt: number | undefined }): Promise<AppendOutcome>;
  abort(): void;
}

export type AppendOutcome =
  | { kind: 'appended'; mailbox: number; uidValidity: number; uid: number; modseq: number }
  | { kind: 'missing' }
  | { kind: 'over-quota' }
  | { kind: 'too-many-keywords' }
  | { kind: 'forbidden'; why: string }
  | { kind: 'too-big' };

/**
 * What the IMAP door needs of the store, for one logged-in account. Names are canonical (`INBOX` upper case, NFC).
 * Writes resolve after the commit and after the shared views caught up. A rejected promise that is a StoreBusy means
 * NO [UNAVAILABLE]; any other rejection is a fault: logged, NO [SERVERBUG].
 */
export interface ImapStore {
  mailboxes(): Promise<MailboxInfo[]>;
  mailbox(name: string): Promise<MailboxInfo | undefined>;
  create(
    name: string,
    role?: MailboxRole,
  ): Promise<{ kind: 'created'; id: number } | { kind: 'exists' } | { kind: 'too-many' }>;
  /** `is-for-approval`: something lies in it that a person has to decide about. `has-emails`: an agent would destroy them. */
  remove(name: string): Promise<'removed' | 'missing' | 'has-children' | 'is-inbox' | 'is-for-approval' | 'has-emails'>;
  /** Renaming INBOX moves its messages to a new mailbox and leaves INBOX empty. RFC 9051 6.3.6. */
  rename(
    from: string,
    to: string,
  ): Promise<'renamed' | 'missing' | 'exists' | 'inside-itself' | 'too-many' | 'is-for-approval'>;
  subscribe(name: string, on: boolean): Promise<'done' | 'missing'>;

  /** Opens the shared view of a mailbox; `close` it once. Counters and UIDs are of one snapshot. */
  open(mailbox: number): Promise<MailboxView>;

  /** Rows of the given UIDs, in UID order; also of messages expunged meanwhile, as long as they are kept. At most 500. */
  rows(mailbox: number, uids: readonly number[], want: { structure: boolean }): Promise<MessageRow[]>;
  /** Told of which of them more than a header is about to be read, by whomever. */
  handed?(rows: readonly MessageRow[]): Promise<void>;
  /** Told which of them were asked for as somebody reads them, not as a program copies them. */
  opened?(rows: readonly MessageRow[]): Promise<void>;
  /** Octets `start` to `start + length` of trace and blob together, clipped to what is there. At most 1 MiB a call. */
  bytes(content: ContentRef, start: number, length: number): Promise<Buffer>;

  /** Answers what changed and, with `unchangedSince`, what did not because it was newer. Missing UIDs are left out. */
  store(
    mailbox: number,
    uids: readonly number[],
    how: 'add' | 'remove' | 'replace',
    flags: FlagSet,
    unchangedSince?: number,
  ): Promise<{ modseqs: readonly number[]; modified: number[] } | { kind: 'too-many-keywords' }>;
  /** UIDs pair in order; `to` is as long as `from`. */
  copy(
    mailbox: number,
    uids: readonly number[],
    to: string,
    move: boolean,
  ): Promise<
    | { kind: 'done'; uidValidity: number; from: number[]; to: number[]; modseq: number }
    | { kind: 'missing' }
    | { kind: 'over-quota' }
    | { kind: 'forbidden'; why: string }
  >;
  /** Expunges those of `uids` that carry \Deleted; `kept`: why some of them stay. */
  expunge(mailbox: number, uids: readonly number[]): Promise<{ uids: number[]; modseq: number; kept?: string }>;
  append(size: number): AppendSink | { kind: 'over-quota' } | { kind: 'unavailable'; why: string };

  /**
   * UIDs that match, ascending; runs in the reader thread when rows or bytes must be looked at. The program is bound:
   * sequence numbers are UIDs already. `too-long` when the time for it was used up.
   */
  search(mailbox: number, view: MailboxView, program: SearchProgram): Promise<Uint32Array | { kind: 'too-long' }>;
}
