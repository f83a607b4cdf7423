/** A value that a column can hold. Integers are read as JavaScript numbers and stay below
 * 2^53; bigint is for writing 64-bit hashes, which are compared in SQL and never read back as numbers. */
export type Value = null | number | bigint | string | Uint8Array;

export type Row = Record<string, Value>;

/** Reading. Every door and query gets this; statements are prepared once by their text, so the text must be static. */
export interface Read {
  get<T extends Row>(sql: string, ...params: Value[]): Promise<T | undefined>;
  all<T extends Row>(sql: string, ...params: Value[]): Promise<T[]>;
}

/** Writing. Exists only inside a command, so whoever holds one is in a transaction that ends with a flush. */
export interface Write extends Read {
  run(sql: string, ...params: Value[]): Promise<{ changes: number; id: number }>;
  /** The account's next mod-sequence; the same for the whole command, however often it is asked for. */
  nextModseq(account: number): Promise<number>;
  /** Says that the account changed, and which mailbox of it if one did, to wake its readers after the commit. */
  touched(account: number, mailbox?: number): void;
  /** Runs `body` in a savepoint of its own: the only way to catch the error of a statement. */
  attempt<T>(body: () => Promise<T>): Promise<{ ok: true; value: T } | { ok: false; error: Error }>;
}

/** What the main thread decides for a command, so that a body that runs twice does the same twice. */
export interface Stamp {
  /** Milliseconds UTC. */
  readonly now: number;
}

/**
 * One write: plain data in, plain data out, in one transaction with whatever else is waiting. The body awaits nothing
 * but `tx`, has no side effects (it may run twice) and touches at most 500 rows. Refusals are values.
 */
export interface Command<I, O> {
  readonly kind: 'command';
  readonly name: string;
  run(tx: Write, input: I, stamp: Stamp): Promise<O>;
}

/** A read of several statements in one snapshot. */
export interface Query<I, O> {
  readonly kind: 'query';
  readonly name: string;
  run(rx: Read, input: I): Promise<O>;
}

export function command<I, O>(name: string, run: Command<I, O>['run']): Command<I, O> {
  return { kind: 'command', name, run };
}

export function query<I, O>(name: string, run: Query<I, O>['run']): Query<I, O> {
  return { kind: 'query', name, run };
}

/**
 * After a commit: what changed. Carries no data; whoever cares reads again from where it was. Account 0 is nobody's: the
 * journal has new lines, or there are new notices.
 */
export interface WakeUp {
  account: number;
  modseq: number;
  mailboxes: number[];
}

/** The store as the doors see it. */
export interface Store {
  /** Resolves when the command's transaction is committed and flushed; rejects with {@link StoreBusy} or a failure. */
  write<I, O>(what: Command<I, O>, input: I): Promise<O>;
  /** As `write`, in the second lane: one slice a batch, so that long work does not delay short work. */
  writeSlice<I, O>(what: Command<I, O>, input: I): Promise<O>;
  /** A short read on this thread. */
  read<I, O>(what: Query<I, O>, input: I): Promise<O>;
  /** A read that may take long, in the reader thread. */
  scan<I, O>(what: Query<I, O>, input: I): Promise<O>;
  onWakeUp(listener: (wakeUp: WakeUp) => void): () => void;
}

/** The writer cannot take more now, or the disk is full: the peer is told "later". */
export class StoreBusy extends Error {
  override readonly name = 'StoreBusy';
  readonly reason: 'queue' | 'disk-full';
  constructor(reason: 'queue' | 'disk-full', message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
