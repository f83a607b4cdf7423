export interface ReaderLimits {
  /** Octets of one line, literals not counted. */
  line: number;
  /** Octets of one literal. */
  literal: number;
  /** Octets of one command with its literals. */
  command: number;
  /** Literals of one command. */
  literals: number;
  /** Octets that are read and thrown away at most before the connection is given up. */
  discard: number;
  /** Whether the message literal of APPEND is handed over as a stream. */
  append: boolean;
}

export declare const BEFORE_LOGIN: ReaderLimits;
export declare const AFTER_LOGIN: ReaderLimits;

/**
 * What comes next from the client:
 * - `command`: one complete command with its literals, without the final CRLF. For `Decoder`.
 * - `need-continuation`: say `+ ...`, then call `next()` again.
 * - `append-literal`: a message for APPEND begins; `head` is the command up to `{n}` (for a second message of MULTIAPPEND:
 *   what stands between the messages). Say `+ ...` first when `sync`. Then `accept()` or `refuse()`.
 * - `literal-data`: octets of the accepted literal; `last` comes exactly once, also for an empty one.
 * - `append-end`: the command is over; `rest` is what stood behind the last literal and is empty in a correct APPEND.
 * - `refused`: the command whose literal was refused is over; say the tagged answer now.
 * - `problem`: answer `tag BAD [TOOBIG] text` (tag `*` when unknown); with `fatal`, `* BYE text` and close.
 */
export type ReaderEvent =
  | { kind: 'command'; bytes: Buffer }
  | { kind: 'need-continuation' }
  | { kind: 'append-literal'; head: Buffer; size: number; sync: boolean; binary: boolean }
  | { kind: 'literal-data'; bytes: Buffer; last: boolean }
  | { kind: 'append-end'; rest: Buffer }
  | { kind: 'refused' }
  | ReaderProblem;

export interface ReaderProblem {
  kind: 'problem';
  tag: string;
  text: string;
  fatal: boolean;
}

/**
 * Cuts what the socket gives into commands: `push(chunk)`, then `next()` until it answers undefined. Holds nothing while
 * nothing is under way, at most one command otherwise, and looks at every octet a constant number of times.
 */
export declare class CommandReader {
  limits: ReaderLimits;
  constructor(limits?: ReaderLimits);
  /** The chunk is kept by reference: it must not be written to afterwards. */
  push(chunk: Buffer): void;
  next(): ReaderEvent | undefined;
  /** One raw line without its end: an AUTHENTICATE response, IDLE's DONE. To be called instead of `next()`. */
  nextLine(limit?: number): { kind: 'line'; bytes: Buffer } | ReaderProblem | undefined;
  /** Take the announced APPEND literal: `literal-data` follows. */
  accept(): void;
  /** Do not take it, or no more of it: what is left is thrown away, `refused` follows. */
  refuse(): void;
  /** Throws away everything that was pushed and not yet read: STARTTLS. */
  clear(): void;
  /** Octets pushed and not yet handed out. Stop reading from the socket when this grows. */
  get buffered(): number;
}
