import type { StateType } from '../../mail/store/account/type-state.ts';
import type { JournalTail, JournalTailLine } from '../../mail/store/journal/journal-tail.ts';
import type { Caller } from './caller.ts';
import type { StreamClient } from './stream-client.ts';

/**
 * Reason why a wait ended or woke up: a change, the timeout, the caller left, the token ended, the slot was given to an
 * organization that has fewer, the server stops. After the last two the caller comes back with its cursor.
 */
export type WakeReason = 'changed' | 'time' | 'gone' | 'out' | 'displaced' | 'stopping';

export interface WaitOptions {
  caller: Caller;
  seconds: number;
  audience: StreamClient | undefined;
}

export interface WaitRequest extends WaitOptions {
  /** The account whose changes wake it; undefined: none. */
  account: number | undefined;
  /** Types of changes that wake it; default: messages that come and go. */
  types?: ReadonlySet<StateType>;
}

/**
 * Position of a reader in one mailbox. Messages are numbered in order of arrival. All messages up to `done` are
 * finished; of later ones those in `reported` were returned, the others not requested yet.
 */
export interface MailboxPosition {
  account: number;
  done: number;
  /** Ranges [first, last], ascending, not adjacent and not overlapping. */
  reported: readonly (readonly [number, number])[];
}

/** Position of an event stream in the journal, and in the mailbox of the last reported message. */
export interface StreamPosition extends MailboxPosition {
  /** Line of the journal; undefined: the cursor is from a wait for mail. */
  line?: number | undefined;
}

/** Accounts whose mail is reported; null: all, and mail of no mailbox. */
export interface JournalView {
  tenant: number;
  accounts: readonly number[] | null;
}

/** A caller that waits for changes. Dispose to release its slot. */
export interface PendingWait extends Disposable {
  readonly isOver: boolean;
  /** Resolves with the reason of the next wake-up; every reason but a change is final. */
  next(): Promise<WakeReason>;
  /** Registers a callback for the end of the wait, called once. */
  onOver(over: () => void): void;
  wake(reason: WakeReason): void;
  /** Adds a cleanup for the end. */
  onEnd(end: () => void): void;
}

/** The journal of a tenant as a stream of lines. */
export interface JournalFeed {
  /** Calls back with new lines of a view. Returns the function that stops it. */
  follow(view: JournalView, tell: (lines: readonly JournalTailLine[]) => void): Promise<() => void>;
  /** Reads a page of lines after `after`. */
  readAfter(view: JournalView, after: number): Promise<JournalTail>;
  /** Returns the last line seen by a follower that received everything up to `line`. */
  positionAfter(line: number): number;
}

/** Encodes cursors for clients, with a MAC. */
export interface CursorCodec {
  write(position: StreamPosition): string;
  /** Refuses a cursor of another mailbox. */
  read(text: string, account: number, newest: number): MailboxPosition;
  /** Refuses a cursor that this server did not write. */
  position(text: string): StreamPosition;
}

/** All callers that wait for mail, within limits per credential, per organization and in total. */
export interface MailWaits {
  readonly cursors: CursorCodec;
  readonly journal: JournalFeed;
  /** Returns undefined when the limit is reached. */
  begin(request: WaitRequest): Promise<PendingWait | undefined>;
  /** Begins all or none. */
  beginAll(requests: readonly WaitRequest[]): Promise<PendingWait[] | undefined>;
  /** Returns the maximum duration in seconds of a stream for this caller. */
  maxStreamSeconds(caller: Caller): number;
  /** False if the caller's token has ended. */
  isTokenValid(caller: Caller): Promise<boolean>;
}
