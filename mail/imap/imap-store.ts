import type { ReadDepth } from '../agents/hooks.ts';
import type { MailboxView } from '../store/mailbox/view-types.ts';
import type { SearchProgram } from './search/program.ts';

export type { MailboxView, ViewChange } from '../store/mailbox/view-types.ts';

export type ImapMailboxRole = 'inbox' | 'drafts' | 'sent' | 'junk' | 'trash' | 'archive';

/** One IMAP mailbox with the facts for LIST and STATUS; counters are stored, never computed. */
export interface ImapMailboxInfo {
  id: number;
  /** Full name in UTF-8 NFC with '/' between levels; the inbox is always `INBOX`. */
  name: string;
  role: ImapMailboxRole | null;
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

/** System flags as bits 0 to 4, and keywords by name. `\Recent` is not supported. */
export interface FlagSet {
  bits: number;
  keywords: readonly string[];
}

export const SEEN = 1;
export const ANSWERED = 2;
export const FLAGGED = 4;
export const DRAFT = 8;
export const DELETED = 16;

/** Stored facts of one message. Texts are latin1, ready for the wire. */
export interface MessageRow {
  uid: number;
  emailId: number;
  threadId: number;
  /** RFC822.SIZE: octets of trace and blob together. */
  size: number;
  /** INTERNALDATE, ms UTC. */
  receivedAt: number;
  /** Present when requested with `structure`. Offsets in `parts` are relative to the blob, which follows the trace. */
  structure?: { envelope: string; bodyStructure: string; parts: string; headerLength: number };
  content: ContentRef;
}

/** The octets of a message: this recipient's trace header lines, then the blob. */
export interface ContentRef {
  trace: string;
  blob: number;
  /** Octets of the blob. */
  length: number;
  /** Offset in the blob from which the content is redacted for agents; null: not redacted. */
  redactedFrom: number | null;
}

export interface AppendSink {
  /** Writes a chunk; await a returned promise before the next one. Bare LF and bare CR become CRLF. */
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
 * The store of one logged-in account, as the IMAP server uses it. Names are canonical (`INBOX` upper case, NFC).
 * Writes resolve after the commit and after the shared views are updated. A rejected promise that is a StoreBusy means
 * NO [UNAVAILABLE]; any other rejection is a fault: logged, NO [SERVERBUG].
 */
export interface ImapStore {
  mailboxes(): Promise<ImapMailboxInfo[]>;
  mailbox(name: string): Promise<ImapMailboxInfo | undefined>;
  create(
    name: string,
    role?: ImapMailboxRole,
  ): Promise<{ kind: 'created'; id: number } | { kind: 'exists' } | { kind: 'too-many' }>;
  /** `is-for-approval`: it has mail that awaits approval. `has-emails`: refused to agents, it would destroy messages. */
  remove(name: string): Promise<'removed' | 'missing' | 'has-children' | 'is-inbox' | 'is-for-approval' | 'has-emails'>;
  /** Renaming INBOX moves its messages to a new mailbox and leaves INBOX empty. RFC 9051 6.3.6. */
  rename(
    from: string,
    to: string,
  ): Promise<'renamed' | 'missing' | 'exists' | 'inside-itself' | 'too-many' | 'is-for-approval'>;
  subscribe(name: string, on: boolean): Promise<'done' | 'missing'>;

  /** Opens the shared view of a mailbox; `close` it once. Counters and UIDs come from one snapshot. */
  open(mailbox: number): Promise<MailboxView>;

  /** Rows of at most 500 UIDs, in UID order; also of expunged messages until retention deletes them. */
  rows(mailbox: number, uids: readonly number[], want: { structure: boolean }): Promise<MessageRow[]>;
  /** Called with messages before their content is sent. */
  onRead?(emails: readonly number[], depth: ReadDepth): Promise<void>;
  /** Octets `start` to `start + length` of trace and blob joined, clipped to their end. At most 1 MiB a call. */
  bytes(content: ContentRef, start: number, length: number): Promise<Buffer>;

  /** Returns what changed and, with `unchangedSince`, the UIDs that were newer (MODIFIED). Missing UIDs are skipped. */
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
  /** Expunges those of `uids` that have \Deleted; `kept`: the reason why some were not expunged. */
  expunge(mailbox: number, uids: readonly number[]): Promise<{ uids: number[]; modseq: number; kept?: string }>;
  append(size: number): AppendSink | { kind: 'over-quota' } | { kind: 'unavailable'; why: string };

  /**
   * UIDs that match, ascending; runs in the reader thread when rows or message octets are needed. The program is bound:
   * sequence numbers were replaced by UIDs. `too-long`: time limit reached.
   */
  search(mailbox: number, view: MailboxView, program: SearchProgram): Promise<Uint32Array | { kind: 'too-long' }>;
}
