import type { Actor } from '../actor-types.ts';

/** A value that a column can hold. Integers are read as JavaScript numbers and stay below
 * 2^53; bigint is for writing 64-bit hashes, which are compared in SQL and never read back as numbers. */
export type Value = null | number | bigint | string | Uint8Array;

export type Row = Record<string, Value>;

/** Read access for endpoints and queries. Statements are cached by their text, so the text must be static. */
export interface Read {
  get<T extends Row>(sql: string, ...params: Value[]): Promise<T | undefined>;
  all<T extends Row>(sql: string, ...params: Value[]): Promise<T[]>;
  /** Yields to other queries of a reader thread when its time slice is over; for long work between statements. */
  pause?(): Promise<void> | undefined;
}

/** Write access. Exists only inside a command, hence inside a transaction that ends with a flush. */
export interface Write extends Read {
  run(sql: string, ...params: Value[]): Promise<{ changes: number; id: number }>;
  /**
   * Runs a statement whose result nobody needs: PostgreSQL gets the next one before its reply. Its error fails the
   * command as that of any other.
   */
  send(sql: string, ...params: Value[]): Promise<void>;
  /** The account's next mod-sequence; the same for the whole command. */
  nextModseq(account: number): Promise<number>;
  /**
   * Numbers of a new email of `size` octets and of a new thread, with {@link nextModseq}, and its count in the quota: one
   * update of the account's row.
   */
  nextEmail(account: number, size: number): Promise<{ modseq: number; email: number; thread: number }>;
  /** Hooks of the composition root that run in the same commit. */
  readonly hooks: WriteHooks;
  /**
   * Marks an account, and optionally a mailbox of it, as changed, to wake its watchers after the commit. `flags`: the
   * whole change of the mailbox, so that its views need not read it.
   */
  touched(account: number, mailbox?: number, flags?: RangeFlags): void;
  /**
   * Announces with the commit that logins have ended, so that other nodes of a database close their sessions even if this
   * one is killed right after it. Without `credential` those of all passwords of the account.
   */
  loginsEnded(account: number, credential?: number): void;
  /** Runs `body` in its own savepoint, the only way to catch an error of a statement. */
  attempt<T>(body: () => Promise<T>): Promise<{ ok: true; value: T } | { ok: false; error: Error }>;
}

/** Logins that a command has ended; without `credential` all of the account. */
export interface EndedLogins {
  readonly account: number;
  readonly credential?: number;
}

/** A refused change. `why` is a sentence without its full stop. */
export interface Forbidden {
  readonly kind: 'forbidden';
  readonly why: string;
}

/** A permitted move of emails. */
export interface AllowedMove {
  readonly kind: 'allowed';
  /** Called after the move in the same commit. */
  settle(tx: Write, stamp: Stamp): Promise<void>;
}

/**
 * A move of emails into or out of mailboxes of an account. `actor`: undefined for a program.
 */
export interface EmailMove {
  readonly account: number;
  readonly emails: readonly number[];
  readonly into: readonly number[];
  readonly actor: Actor | undefined;
}

/**
 * Hooks that store commands call in their commit, so that the store imports no upper layer. `by`: the agent that makes
 * a change; null or undefined: a person.
 */
export interface WriteHooks {
  /** Runs a change of emails and records it for undo. */
  onChange<T>(
    tx: Write,
    about: { account: number; by: string | null | undefined; emails: readonly number[] },
    stamp: Stamp,
    change: () => Promise<T>,
  ): Promise<T>;
  /** Called for a message that an agent stores, or a copy of one (`copyOf`). `namedBy`: the agent that chose its keywords. */
  onNewEmail(
    tx: Write,
    email: { id: number; account: number; blob: number; by: string | null; namedBy: string | null; copyOf?: number },
  ): Promise<void>;
  /** Called when an agent names a keyword that the account does not list yet, also if no message gets it in the end. */
  onNewKeyword(tx: Write, keyword: { account: number; by: string }): Promise<unknown>;
  /** Called for an imported message whose keywords may be words of its sender. */
  onSendersKeywords(tx: Write, account: number): Promise<void>;
  /** Records a change of a rule; `before` null: created, `after` null: deleted. */
  onRuleChange(
    tx: Write,
    about: { tenant: number; by: string | null | undefined; what: string },
    change: { before: object | null; after: object | null },
    stamp: Stamp,
  ): Promise<void>;
  /** Permits or refuses a move before it is made. */
  beforeMove(rx: Read, move: EmailMove, stamp: Stamp): Promise<AllowedMove | Forbidden>;
  /** Reports whether only the server may store mail in the mailbox, whose name is fixed. */
  isReserved(rx: Read, account: number, mailbox: number): Promise<boolean>;
  /** Called for a due queue row that must not be sent. */
  onNotSent(tx: Write, row: number, stamp: Stamp): Promise<void>;
}

/** Values that the main thread fixes for a command, so that a repeated body has the same result. */
export interface Stamp {
  /** Milliseconds UTC. */
  readonly now: number;
}

/**
 * One write: plain data in and out, in one transaction with other pending commands. The body awaits only `tx`, has no
 * side effects (it may run twice) and changes at most 500 rows. Refusals are values.
 */
export interface Command<I, O> {
  readonly kind: 'command';
  readonly name: string;
  run(tx: Write, input: I, stamp: Stamp): Promise<O>;
  /**
   * Accounts that it keeps to with this input: it reads nothing that another command writes which keeps to other ones,
   * and has no savepoint. PostgreSQL runs such commands of a batch beside each other. Undefined: it keeps to none.
   */
  keepsTo?(input: I): readonly number[] | undefined;
  /** Finishes what this command leaves for later: it runs before the next command of any other kind. */
  readonly leaves?: Command<Record<string, never>, { more: boolean }>;
}

/** A read of several statements in one snapshot. */
export interface Query<I, O> {
  readonly kind: 'query';
  readonly name: string;
  /** It runs at most one statement, which is its own snapshot: no transaction is opened. */
  readonly single?: boolean;
  /** It reads neither flags nor mod-sequences of messages, so it never waits for those that are only logged. */
  readonly flagless?: boolean;
  run(rx: Read, input: I): Promise<O>;
}

export function command<I, O>(name: string, run: Command<I, O>['run']): Command<I, O> {
  return { kind: 'command', name, run };
}

export function query<I, O>(name: string, run: Query<I, O>['run']): Query<I, O> {
  return { kind: 'query', name, run };
}

/** A query of at most one statement: a transaction would be two more. */
export function lookup<I, O>(name: string, run: Query<I, O>['run']): Query<I, O> {
  return { kind: 'query', name, single: true, run };
}

/** A query that reads neither flags nor mod-sequences of messages. */
export function flagless<I, O>(what: Query<I, O>): Query<I, O> {
  return { ...what, flagless: true };
}

/** UIDs from the first to the last, both included. */
export interface UidRange {
  from: number;
  to: number;
}

/** A change of flags in ranges of UIDs: entries whose flags in the mask `bits` are not `value` get them. */
export interface RangeFlags {
  bits: number;
  value: number;
  ranges: readonly UidRange[];
  /** HIGHESTMODSEQ of the mailbox before. */
  before: number;
  /** Mod-sequence of the changed entries, and HIGHESTMODSEQ after. */
  modseq: number;
}

/**
 * A change after a commit. Carries no data except flags of ranges: watchers read again from their last position. Account
 * 0 means new journal lines or new webhook events.
 */
export interface WakeUp {
  account: number;
  modseq: number;
  mailboxes: number[];
  /** Mailboxes that changed in no other way. */
  flags?: ReadonlyMap<number, RangeFlags>;
}

/** The store interface for protocol servers and endpoints. */
export interface Store {
  /** Resolves when the command's transaction is committed and flushed; rejects with {@link StoreBusy} or a failure. */
  write<I, O>(what: Command<I, O>, input: I): Promise<O>;
  /** Like `write` with low priority: after other work of a batch, and several only while no other work waits. */
  writeSlice<I, O>(what: Command<I, O>, input: I): Promise<O>;
  /** Runs a short read on this thread. */
  read<I, O>(what: Query<I, O>, input: I): Promise<O>;
  /** Runs a long read in the reader thread. */
  scan<I, O>(what: Query<I, O>, input: I): Promise<O>;
  onWakeUp(listener: (wakeUp: WakeUp) => void): () => void;
}

/**
 * The write queue or the disk is full, or the bucket of large messages or the database does not answer: reply "try later".
 */
export class StoreBusy extends Error {
  override readonly name = 'StoreBusy';
  readonly reason: 'queue' | 'disk-full' | 'bucket' | 'database';
  constructor(reason: StoreBusy['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
