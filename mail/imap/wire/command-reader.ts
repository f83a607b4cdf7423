import { InputBuffer } from './input-buffer.ts';
import { isMessageLiteral, literalMarker, tagOf, type LiteralMarker } from './literal-marker.ts';

export interface ReaderLimits {
  /** Octets of the lines of one command, without literals; of APPEND the text before each literal. */
  line: number;
  /** Octets of one literal. */
  literal: number;
  /** Octets of one command with its literals. */
  command: number;
  /** Literals of one command, without those of messages. */
  literals: number;
  /** Octets discarded of an oversized command before the connection is closed. */
  discard: number;
  /** True to stream the message literals of APPEND and REPLACE. */
  append: boolean;
}

const KIB = 1024;

/**
 * Limits of unauthenticated clients: little memory per connection. CVE-2026-27857, CVE-2025-61600. ID may have 30 fields
 * with values of 1,024 octets, quoted or as literals (RFC 2971 3.3).
 */
export const BEFORE_LOGIN: ReaderLimits = {
  line: 36 * KIB,
  literal: 4 * KIB,
  command: 40 * KIB,
  literals: 60,
  discard: 64 * KIB,
  append: false,
};

/** Limits after login. The number of literals is limited too: CVE-2024-34055. */
export const AFTER_LOGIN: ReaderLimits = {
  line: 64 * KIB,
  literal: 100 * KIB,
  command: KIB * KIB,
  literals: 1000,
  discard: 64 * KIB * KIB,
  append: true,
};

/**
 * The next event of the input:
 * - `command`: one complete command with its literals, without the final CRLF. For `Decoder`.
 * - `need-continuation`: send `+ ...`, then call `next()` again.
 * - `append-literal`: a message for APPEND begins; `head` is the command up to `{n}` (for a second message of MULTIAPPEND:
 *   the text between the messages). `accept()` it, after `+ ...` when `sync`, or `refuse()` it.
 * - `literal-data`: octets of the accepted literal; `last` comes exactly once, also for an empty one.
 * - `append-end`: the command is complete; `rest` is the text after the last literal, empty in a correct APPEND.
 * - `refused`: the command with the refused literal is complete; send the tagged response now.
 * - `problem`: respond with `tag BAD [TOOBIG] text` (the tag is `*` when there was none); with `fatal`, `* BYE text` and close.
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

type State =
  /** Looking for the end of a line. */
  | 'line'
  /** Collecting a literal that ends at `segment`. */
  | 'literal'
  /** A message literal of `remaining` octets waits for accept() or refuse(). */
  | 'announced'
  /** Streaming `remaining` octets of a message literal. */
  | 'stream'
  /** Discarding `remaining` octets of a literal, then the rest of the command. */
  | 'skip-literal'
  | 'skip-line'
  /** The discarded command ended: `outcome` is the next event. */
  | 'over'
  /** Closed after a fatal problem: nothing is read. */
  | 'dead';

type Step = ReaderEvent | 'again' | 'wait';

const LF = 0x0a;
const CR = 0x0d;
const EMPTY = Buffer.alloc(0);
/** Octets kept of a discarded line; longer than any valid literal marker. */
const MAX_MARKER = 40;

/**
 * Splits the input into commands: `push(chunk)`, then `next()` until it returns undefined. Buffers at most one command,
 * and reads every octet a constant number of times.
 */
export class CommandReader {
  limits: ReaderLimits;
  private readonly input = new InputBuffer();
  private state: State = 'line';
  /** Start of the current line, after the last literal. */
  private lineStart = 0;
  /** Offset up to which the line was scanned. */
  private scanned = 0;
  private remaining = 0;
  private sync = false;
  /** Octets of earlier lines of this command. */
  private lines = 0;
  private literals = 0;
  private dropped = 0;
  /** Tag of the APPEND whose message is streamed. */
  private appending: string | undefined = undefined;
  private outcome: ReaderEvent | undefined = undefined;

  constructor(limits: ReaderLimits = BEFORE_LOGIN) {
    this.limits = limits;
  }

  /** Octets pushed and not yet returned. Pause the socket when this grows. */
  get buffered(): number {
    return this.input.length;
  }

  /** Adds a chunk by reference: it must not be modified afterwards. */
  push(chunk: Buffer): void {
    if (this.state !== 'dead') this.input.push(chunk);
  }

  next(): ReaderEvent | undefined {
    let step = this.step();
    while (step === 'again') step = this.step();
    if (step !== 'wait') return step;
    this.input.compact();
    return undefined;
  }

  /** Returns a raw line without its line end: an AUTHENTICATE response, IDLE's DONE. Call it instead of `next()`. */
  nextLine(limit = 12 * KIB): { kind: 'line'; bytes: Buffer } | ReaderProblem | undefined {
    if (this.state !== 'line') return undefined;
    const end = this.input.indexOf(LF, this.scanned);
    if (end > limit + 1 || (end === -1 && this.input.length > limit)) return this.fatal('Line is too long');
    if (end === -1) {
      this.scanned = this.input.length;
      this.input.compact();
      return undefined;
    }
    const bytes = this.input.view(0, this.withoutCr(end));
    this.finish(end + 1);
    return { kind: 'line', bytes };
  }

  /** Accepts the announced APPEND literal: `literal-data` follows. */
  accept(): void {
    if (this.state === 'announced') this.state = 'stream';
  }

  /** Refuses the literal or its rest, which is discarded; then `next()` returns `refused`. */
  refuse(): void {
    const betweenMessages = this.state === 'line' && this.appending !== undefined;
    if (this.state !== 'announced' && this.state !== 'stream' && !betweenMessages) return;
    this.outcome = { kind: 'refused' };
    // A client that waits for the continuation does not send the literal: a new command follows.
    if (this.state === 'announced' && this.sync) this.state = 'over';
    else if (betweenMessages) this.state = 'skip-line';
    else this.skipLiteral(this.remaining);
  }

  /** Discards all unread input, for STARTTLS. */
  clear(): void {
    this.input.clear();
    if (this.state !== 'dead') this.finish(0);
  }

  /** Takes all unread input, for COMPRESS: the client may have compressed it before it had the response. */
  takeRest(): Buffer {
    const rest = this.input.take(this.input.length);
    this.clear();
    return rest;
  }

  private step(): Step {
    switch (this.state) {
      case 'line':
        return this.line();
      case 'literal':
        if (this.input.length < this.lineStart) return 'wait';
        this.state = 'line';
        return 'again';
      case 'announced':
        return 'wait';
      case 'stream':
        return this.stream();
      case 'skip-literal':
        return this.dropLiteral();
      case 'skip-line':
        return this.dropLine();
      case 'over':
      case 'dead':
      default:
        return this.takeOutcome();
    }
  }

  private line(): Step {
    const end = this.input.indexOf(LF, this.scanned);
    this.scanned = end === -1 ? this.input.length : end;
    const stop = end === -1 ? this.scanned : this.withoutCr(end);
    if (this.lines + stop - this.lineStart > this.limits.line + 1) return this.tooLong();
    if (end === -1) return 'wait';
    // iOS sends an empty line before some commands.
    if (stop === 0 && this.appending === undefined) return this.finish(end + 1);
    const marker = literalMarker(this.input.view(this.lineStart, stop));
    return marker ? this.literal(marker, stop, end + 1) : this.complete(stop, end + 1);
  }

  private complete(stop: number, next: number): Step {
    const bytes = this.input.view(0, stop);
    const appending = this.appending !== undefined;
    this.finish(next);
    return appending ? { kind: 'append-end', rest: bytes } : { kind: 'command', bytes };
  }

  private literal(marker: LiteralMarker, stop: number, next: number): Step {
    const { size } = marker;
    const at = this.lineStart + marker.at;
    if (this.isMessage(at)) return this.announceMessage(marker, at, next);
    this.literals++;
    this.lines += stop - this.lineStart;
    if (this.literals > this.limits.literals) return this.tooBig(marker, next, 'Too many literals');
    if (size > this.limits.literal) return this.tooBig(marker, next, 'Literal is too big');
    if (next + size > this.limits.command) return this.tooBig(marker, next, 'Command is too big');
    this.lineStart = this.scanned = next + size;
    this.state = 'literal';
    return marker.sync ? { kind: 'need-continuation' } : 'again';
  }

  private isMessage(at: number): boolean {
    if (this.appending !== undefined) return true;
    return this.limits.append && isMessageLiteral(this.input.view(0, Math.min(at, 128)));
  }

  private announceMessage(marker: LiteralMarker, at: number, next: number): ReaderEvent {
    const head = this.input.view(0, at);
    this.appending ??= tagOf(head);
    this.remaining = marker.size;
    this.sync = marker.sync;
    this.state = 'announced';
    this.input.drop(next);
    // The text is in `head` now: APPEND limits the number of messages and of their parts itself.
    this.lineStart = this.scanned = this.lines = 0;
    return { kind: 'append-literal', head, size: marker.size, sync: marker.sync, binary: marker.binary };
  }

  private stream(): Step {
    if (this.remaining > 0 && this.input.length === 0) return 'wait';
    const bytes = this.remaining === 0 ? EMPTY : this.input.take(Math.min(this.remaining, this.input.length));
    this.remaining -= bytes.length;
    if (this.remaining === 0) this.state = 'line';
    return { kind: 'literal-data', bytes, last: this.remaining === 0 };
  }

  // The client sends no octet of a synchronizing literal after a BAD.
  private tooBig(marker: LiteralMarker, next: number, text: string): Step {
    this.outcome = this.problem(text, false);
    this.input.drop(next);
    this.lineStart = this.scanned = 0;
    if (marker.sync) this.state = 'over';
    else this.skipLiteral(marker.size);
    return 'again';
  }

  private tooLong(): Step {
    this.outcome = this.problem('Line is too long', false);
    this.state = 'skip-line';
    return 'again';
  }

  private skipLiteral(size: number): void {
    this.dropped += size;
    this.remaining = size;
    this.state = 'skip-literal';
    if (this.dropped > this.limits.discard) this.outcome = this.fatal('Literal is too big');
  }

  private dropLiteral(): Step {
    const count = Math.min(this.remaining, this.input.length);
    this.input.drop(count);
    this.remaining -= count;
    if (this.remaining > 0) return 'wait';
    this.state = 'skip-line';
    this.lineStart = this.scanned = 0;
    return 'again';
  }

  // Discarded lines are split like commands: otherwise the octets of a literal would be parsed as commands.
  private dropLine(): Step {
    const end = this.input.indexOf(LF, this.scanned);
    const stop = end === -1 ? this.input.length : this.withoutCr(end);
    const start = Math.max(this.lineStart, stop - MAX_MARKER);
    const marker = end === -1 ? undefined : literalMarker(this.input.view(start, stop));
    const used = end === -1 ? start : end + 1;
    this.input.drop(used);
    this.dropped += used;
    this.lineStart = 0;
    this.scanned = end === -1 ? this.input.length : 0;
    if (this.dropped > this.limits.discard) return this.fatal('Command is too big');
    if (end === -1) return 'wait';
    if (marker && !marker.sync) this.skipLiteral(marker.size);
    else this.state = 'over';
    return 'again';
  }

  private takeOutcome(): Step {
    const event = this.outcome;
    this.outcome = undefined;
    if (this.state === 'dead') this.input.clear();
    else this.finish(0);
    return event ?? 'wait';
  }

  private finish(used: number): 'again' {
    this.input.drop(used);
    this.state = 'line';
    this.lineStart = this.scanned = this.remaining = this.lines = this.literals = this.dropped = 0;
    this.appending = this.outcome = undefined;
    return 'again';
  }

  private withoutCr(end: number): number {
    return end > this.lineStart && this.input.at(end - 1) === CR ? end - 1 : end;
  }

  private problem(text: string, fatal: boolean): ReaderProblem {
    const tag = this.appending ?? tagOf(this.input.view(0, Math.min(this.input.length, 128)));
    return { kind: 'problem', tag, text, fatal };
  }

  private fatal(text: string): ReaderProblem {
    const problem = this.problem(text, true);
    this.state = 'dead';
    this.outcome = undefined;
    this.input.clear();
    return problem;
  }
}
