import type { ReadDepth } from '../agents/hooks.ts';
import type { QuotaUse } from '../store/account/quota.ts';
import type { GrantChange, GrantedAccess, GrantResult } from '../store/mailbox/acl.ts';
import type { Annotation, AnnotateResult, AnnotationChange } from '../store/mailbox/annotation.ts';
import type { MailboxView } from '../store/mailbox/view-types.ts';
import type { SearchedView } from './search/candidates.ts';
import type { SearchProgram, TextKey } from './search/program.ts';
import type { SortKey } from './search/sort/sort-key.ts';
import type { ThreadAlgorithm } from './search/thread/thread-input.ts';

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
  /** Messages that no session was notified of, if that was asked for. */
  recent?: number;
  /** The mailbox was deleted and is still subscribed. */
  isFormer?: true;
  /** Octets of the messages with \Deleted, where they were requested. */
  deletedBytes?: number;
  /** Letters of the rights on a mailbox of another account; left out: all, it is the own account's. RFC 4314. */
  rights?: string;
  /** A level above mailboxes that is none itself: it is listed and cannot be used. */
  isNonexistent?: boolean;
}

/** Grants on the mailboxes of the own account. RFC 4314. */
export interface MailboxAcl {
  /** Undefined: the mailbox is another account's. */
  list(mailbox: number): Promise<GrantedAccess[] | undefined>;
  set(mailbox: number, address: string, how: GrantChange['how'], rights: string): Promise<GrantResult>;
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
  /** SAVEDATE, ms UTC; null: not known, for an expunged message. RFC 8514. */
  savedAt: number | null;
  /** Begin of the text, present when requested with `preview`. RFC 8970. */
  preview?: string;
  /** Present when requested with `structure`. Offsets in `parts` are relative to the blob, which follows the trace. */
  structure?: { envelope: string; bodyStructure: string; parts: string; headerLength: number };
  content: ContentRef;
}

/** The parts of rows that cost a look-up of their own. */
export interface RowRequest {
  structure: boolean;
  preview?: boolean;
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
  /**
   * Ends the message. Returns the octets that it holds in memory until its commit; undefined: it has NUL octets that no
   * transfer encoding can take.
   */
  close(): Promise<number | undefined>;
  /** Discards a message that was not stored. */
  abort(): void;
}

/** Options of a message that APPEND begins. */
export interface AppendOptions {
  /** It must not wait in memory. */
  inFile: boolean;
  /** It comes in a literal8: NUL octets are allowed in parts with a binary transfer encoding. RFC 3516. */
  binary?: boolean;
}

/** A received message, for {@link ImapStore.finishAppends}. */
export interface NewMessage {
  sink: AppendSink;
  flags: FlagSet;
  receivedAt: number | undefined;
}

/** The message that REPLACE expunges. RFC 8508. */
export interface ReplacedMessage {
  mailbox: number;
  uid: number;
}

export type AppendOutcome =
  | { kind: 'appended'; mailbox: number; uidValidity: number; uids: number[]; modseq: number }
  | { kind: 'missing' }
  | { kind: 'over-quota' }
  | { kind: 'too-many-keywords' }
  | { kind: 'forbidden'; why: string }
  | { kind: 'too-big' }
  /** The replaced message was expunged. */
  | { kind: 'gone' };

export interface MailboxSearchOptions {
  sort?: readonly SortKey[];
  /** Relevancy by UID, for SORT (RELEVANCY). */
  scores?: ReadonlyMap<number, number>;
  signal?: AbortSignal;
}

/** A refused COPY or MOVE. */
export type TransferRefusal = { kind: 'missing' } | { kind: 'over-quota' } | { kind: 'forbidden'; why: string };

/** Messages that were copied or moved. UIDs pair in order; `to` is as long as `from`. */
export interface TransferredMessages {
  uidValidity: number;
  from: number[];
  to: number[];
  modseq: number;
}

/** `partly`: a MOVE that ended in the middle. The messages in `from` were moved, and no other one was touched. */
export type TransferOutcome =
  | ({ kind: 'done' } & TransferredMessages)
  | ({ kind: 'partly'; end: TransferRefusal | { kind: 'failed'; error: unknown } } & TransferredMessages)
  | TransferRefusal;

/**
 * The store of one logged-in account, as the IMAP server uses it. Names are canonical (`INBOX` upper case, NFC).
 * Writes resolve after the commit and after the shared views are updated. A rejected promise that is a StoreBusy means
 * NO [UNAVAILABLE]; any other rejection is a fault: logged, NO [SERVERBUG].
 */
export interface ImapStore {
  /** Prefix of the mailboxes that others share, and the rights on the own ones; left out: nothing is shared. */
  readonly otherUsers?: string;
  readonly acl?: MailboxAcl;
  mailboxes(): Promise<ImapMailboxInfo[]>;
  /** Calls back after a commit that may have changed a mailbox of {@link mailboxes}. Returns the function that ends it. */
  onChange(listener: () => void): () => void;
  mailbox(name: string): Promise<ImapMailboxInfo | undefined>;
  create(
    name: string,
    role?: ImapMailboxRole,
  ): Promise<
    { kind: 'created'; id: number } | { kind: 'exists' } | { kind: 'too-many' } | { kind: 'forbidden'; why: string }
  >;
  /** `is-for-approval`: it has mail that awaits approval. `is-shared`: it is another account's. `has-emails`: refused to agents, it would destroy messages. */
  remove(
    name: string,
  ): Promise<'removed' | 'missing' | 'has-children' | 'is-inbox' | 'is-for-approval' | 'has-emails' | 'is-shared'>;
  /** Renaming INBOX moves its messages to a new mailbox and leaves INBOX empty, or is refused as a MOVE. RFC 9051 6.3.6. */
  rename(
    from: string,
    to: string,
  ): Promise<
    | 'renamed'
    | 'missing'
    | 'exists'
    | 'inside-itself'
    | 'too-many'
    | 'is-for-approval'
    | 'is-shared'
    | { kind: 'forbidden'; why: string }
  >;
  subscribe(name: string, on: boolean): Promise<'done' | 'missing'>;
  /** Names of deleted mailboxes that are still subscribed. RFC 3501 6.3.9. */
  formerSubscriptions(): Promise<string[]>;
  /** Messages that no session was notified of. RFC 3501 2.3.2. */
  recent(mailbox: number): Promise<number>;

  /** Usage and limits of the account. RFC 9208. */
  quota(): Promise<QuotaUse>;
  /** Octets of the messages with \\Deleted of a mailbox; reads all its entries, in the reader thread. */
  deletedBytes(mailbox: number): Promise<number>;
  /** METADATA entries of a mailbox; 0: of the account as a whole. RFC 5464. */
  annotations(mailbox: number): Promise<Annotation[]>;
  /** The named entries of all mailboxes. RFC 9590. */
  namedAnnotations(names: readonly string[]): Promise<Annotation[]>;
  annotate(mailbox: number, changes: readonly AnnotationChange[]): Promise<AnnotateResult>;
  /** Capabilities that this account does not list. */
  hiddenCapabilities(): Promise<readonly string[]>;

  /** Opens the shared view of a mailbox; `close` it once. Counters and UIDs come from one snapshot. */
  open(mailbox: number): Promise<MailboxView>;

  /** UIDs that left the mailbox after a mod-sequence, ascending; undefined: too many to list. */
  vanished(mailbox: number, since: number): Promise<readonly { from: number; to: number }[] | undefined>;

  /** Rows of at most 500 UIDs, in UID order; also of expunged messages until retention deletes them. */
  rows(mailbox: number, uids: readonly number[], want: RowRequest): Promise<MessageRow[]>;
  /** Called with messages before their content is sent. */
  onRead?(emails: readonly number[], depth: ReadDepth): Promise<void>;
  /** Called before keywords of a mailbox are shown, or messages that were found by them. */
  onLabels?(mailbox: number): Promise<void>;
  /** Octets `start` to `start + length` of trace and blob joined, clipped to their end. At most 1 MiB a call. */
  bytes(content: ContentRef, start: number, length: number): Promise<Buffer>;
  /**
   * The first `most` octets of each blob, as they are stored: of no message that is redacted. Those in files and damaged
   * ones are left out. At most 256 KiB a call.
   */
  beginnings(blobs: readonly number[], most: number): Promise<ReadonlyMap<number, Buffer>>;

  /** Returns what changed and, with `unchangedSince`, the UIDs that were newer (MODIFIED). Missing UIDs are skipped. */
  store(
    mailbox: number,
    uids: readonly number[],
    how: 'add' | 'remove' | 'replace',
    flags: FlagSet,
    unchangedSince?: number,
  ): Promise<
    | { modseqs: readonly number[]; modified: number[] }
    | { kind: 'too-many-keywords' }
    | { kind: 'forbidden'; why: string }
  >;
  /** COPY copies all messages or none. MOVE can end `partly`, when something changes in the middle. */
  copy(mailbox: number, uids: readonly number[], to: string, move: boolean): Promise<TransferOutcome>;
  /** Expunges those of `uids` that have \Deleted; `kept`: the reason why some were not expunged. */
  expunge(mailbox: number, uids: readonly number[]): Promise<{ uids: number[]; modseq: number; kept?: string }>;
  /** Begins a message for {@link finishAppends}. */
  append(
    size: number,
    options?: AppendOptions,
  ): AppendSink | { kind: 'over-quota' } | { kind: 'unavailable'; why: string };
  /** Stores messages in one commit, all or none. */
  finishAppends(into: {
    mailbox: ImapMailboxInfo;
    messages: readonly NewMessage[];
    replaces?: ReplacedMessage;
  }): Promise<AppendOutcome>;

  /**
   * UIDs of messages in `view` that match, ascending or in the order of `sort`; runs in the reader thread when rows or
   * message octets are needed. The program is bound: sequence numbers were replaced by UIDs. `too-long`: time limit
   * reached, or aborted by the signal.
   */
  search(
    mailbox: number,
    view: SearchedView,
    program: SearchProgram,
    options?: MailboxSearchOptions,
  ): Promise<Uint32Array | { kind: 'too-long' }>;
  /** Data of a THREAD response for the messages that match, with UIDs, or with sequence numbers from 1 in `view`. */
  thread(
    mailbox: number,
    view: SearchedView,
    program: SearchProgram,
    how: { algorithm: ThreadAlgorithm; uid: boolean; signal?: AbortSignal },
  ): Promise<string | { kind: 'too-long' }>;
  /**
   * UIDs of the messages whose words match a text key, with a relevancy from 1 to 100; undefined: there is no index now.
   * RFC 6203.
   */
  relevant?(mailbox: number, key: TextKey): Promise<ReadonlyMap<number, number> | undefined>;
}
