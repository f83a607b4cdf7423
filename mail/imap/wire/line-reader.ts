import { Input } from './input.ts';
import { isMessageLiteral, literalMarker, tagOf, type LiteralMarker } from './literal-marker.ts';

export interface ReaderLimits {
  /** Octets of the lines of one command, literals not counted. */
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

const KIB = 1024;

/** CVE-2026-27857, CVE-2025-61600: what a stranger can make us hold is one line. */
export const BEFORE_LOGIN: ReaderLimits = {
  line: 8 * KIB,
  literal: 4 * KIB,
  command: 16 * KIB,
  literals: 4,
  discard: 64 * KIB,
  append: false,
};

/** CVE-2024-34055: many literals of a good size are refused too. */
export const AFTER_LOGIN: ReaderLimits = {
  line: 64 * KIB,
  literal: 100 * KIB,
  command: KIB * KIB,
  literals: 1000,
  discard: 64 * KIB * KIB,
  append: true,
};

/**
 * What comes next from the client:
 * - `command`: one complete command with its literals, without the final CRLF. For `Decoder`.
 * - `need-continuation`: say `+ ...`, then call `next()` again.
 * - `append-literal`: a message for APPEND begins; `head` is the command up to `{n}` (for a second message of MULTIAPPEND:
 *   what stands between the messages). `accept()` it, having said `+ ...` when `sync`, or `refuse()` it.
 * - `literal-data`: octets of the accepted literal; `last` comes exactly once, also for an empty one.
 * - `append-end`: the command is over; `rest` is what stood behind the last literal and is empty in a correct APPEND.
 * - `refused`: the command whose literal was refused is over; say the tagged answer now.
 * - `problem`: answer `tag BAD [TOOBIG] text` (the tag is `*` when there was none); with `fatal`, `* BYE text` and close.
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
  /** A message literal of `left` octets waits for accept() or refuse(). */
  | 'asked'
  /** Handing out `left` octets of a message literal. */
  | 'stream'
  /** Throwing away `left` octets of a literal, then the rest of the command. */
  | 'skip-literal'
  | 'skip-line'
  /** The command that was thrown away is over: `outcome` is said. */
  | 'over'
  /** Given up: nothing is read any more. */
  | 'dead';

type Step = ReaderEvent | 'again' | 'wait';

const LF = 0x0a;
const CR = 0x0d;
const EMPTY = Buffer.alloc(0);
/** Longer than any literal marker that matters: what is kept of a line that is thrown away. */
const MARKER = 40;

/**
 * Cuts what the socket gives into commands: `push(chunk)`, then `next()` until it answers undefined. Holds nothing while
 * nothing is under way, at most one command otherwise, and looks at every octet a constant number of times.
 */
export class CommandReader {
  limits: ReaderLimits;
  private readonly input = new Input();
  private state: State = 'line';
  /** Where the line under way begins, after the last literal. */
  private segment = 0;
  /** How far the line was looked through. */
  private scanned = 0;
  private left = 0;
  private sync = false;
  /** Octets of earlier lines of this command. */
  private lines = 0;
  private literals = 0;
  private dropped = 0;
  /** Tag of an APPEND whose message is streamed: the command itself is gone by then. */
  private appending: string | undefined = undefined;
  private outcome: ReaderEvent | undefined = undefined;

  constructor(limits: ReaderLimits = BEFORE_LOGIN) {
    this.limits = limits;
  }

  /** Octets pushed and not yet handed out. Stop reading from the socket when this grows. */
  get buffered(): number {
    return this.input.length;
  }

  /** The chunk is kept by reference: it must not be written to afterwards. */
  push(chunk: Buffer): void {
    if (this.state !== 'dead') this.input.push(chunk);
  }

  next(): ReaderEvent | undefined {
    let step = this.step();
    while (step === 'again') step = this.step();
    if (step !== 'wait') return step;
    this.input.settle();
    return undefined;
  }

  /** One raw line without its end: an AUTHENTICATE response, IDLE's DONE. To be called instead of `next()`. */
  nextLine(limit = 12 * KIB): { kind: 'line'; bytes: Buffer } | ReaderProblem | undefined {
    if (this.state !== 'line') return undefined;
    const end = this.input.indexOf(LF, this.scanned);
    if (end > limit + 1 || (end === -1 && this.input.length > limit)) return this.fatal('Line is too long');
    if (end === -1) {
      this.scanned = this.input.length;
      this.input.settle();
      return undefined;
    }
    const bytes = this.input.view(0, this.withoutCr(end));
    this.finish(end + 1);
    return { kind: 'line', bytes };
  }

  /** Take the announced APPEND literal: `literal-data` follows. */
  accept(): void {
    if (this.state === 'asked') this.state = 'stream';
  }

  /** Do not take it, or no more of it: what is left is thrown away, then `next()` answers `refused`. */
  refuse(): void {
    const betweenMessages = this.state === 'line' && this.appending !== undefined;
    if (this.state !== 'asked' && this.state !== 'stream' && !betweenMessages) return;
    this.outcome = { kind: 'refused' };
    // A client that waits for the continuation sends nothing of the literal: what comes next is a new command.
    if (this.state === 'asked' && this.sync) this.state = 'over';
    else if (betweenMessages) this.state = 'skip-line';
    else this.skipLiteral(this.left);
  }

  /** Throws away everything that was pushed and not yet read: STARTTLS. */
  clear(): void {
    this.input.clear();
    if (this.state !== 'dead') this.finish(0);
  }

  private step(): Step {
    switch (this.state) {
      case 'line':
        return this.line();
      case 'literal':
        if (this.input.length < this.segment) return 'wait';
        this.state = 'line';
        return 'again';
      case 'asked':
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
        return this.say();
    }
  }

  private line(): Step {
    const end = this.input.indexOf(LF, this.scanned);
    this.scanned = end === -1 ? this.input.length : end;
    const stop = end === -1 ? this.scanned : this.withoutCr(end);
    if (this.lines + stop - this.segment > this.limits.line + 1) return this.tooLong();
    if (end === -1) return 'wait';
    // iOS sends an empty line before some commands.
    if (stop === 0 && this.appending === undefined) return this.finish(end + 1);
    const marker = literalMarker(this.input.view(this.segment, stop));
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
    const at = this.segment + marker.at;
    this.literals++;
    this.lines += stop - this.segment;
    if (this.literals > this.limits.literals) return this.tooBig(marker, next, 'Too many literals');
    if (this.isMessage(at)) return this.ask(marker, at, next);
    if (size > this.limits.literal) return this.tooBig(marker, next, 'Literal is too big');
    if (next + size > this.limits.command) return this.tooBig(marker, next, 'Command is too big');
    this.segment = this.scanned = next + size;
    this.state = 'literal';
    return marker.sync ? { kind: 'need-continuation' } : 'again';
  }

  private isMessage(at: number): boolean {
    if (this.appending !== undefined) return true;
    return this.limits.append && isMessageLiteral(this.input.view(0, Math.min(at, 128)), at);
  }

  private ask(marker: LiteralMarker, at: number, next: number): ReaderEvent {
    const head = this.input.view(0, at);
    this.appending ??= tagOf(head);
    this.left = marker.size;
    this.sync = marker.sync;
    this.state = 'asked';
    this.input.drop(next);
    this.segment = this.scanned = 0;
    return { kind: 'append-literal', head, size: marker.size, sync: marker.sync, binary: marker.binary };
  }

  private stream(): Step {
    if (this.left > 0 && this.input.length === 0) return 'wait';
    const bytes = this.left === 0 ? EMPTY : this.input.take(Math.min(this.left, this.input.length));
    this.left -= bytes.length;
    if (this.left === 0) this.state = 'line';
    return { kind: 'literal-data', bytes, last: this.left === 0 };
  }

  // Of a synchronising literal not one octet is read: the client does not send it, our BAD is its answer.
  private tooBig(marker: LiteralMarker, next: number, text: string): Step {
    this.outcome = this.problem(text, false);
    this.input.drop(next);
    this.segment = this.scanned = 0;
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
    this.left = size;
    this.state = 'skip-literal';
    if (this.dropped > this.limits.discard) this.outcome = this.fatal('Literal is too big');
  }

  private dropLiteral(): Step {
    const count = Math.min(this.left, this.input.length);
    this.input.drop(count);
    this.left -= count;
    if (this.left > 0) return 'wait';
    this.state = 'skip-line';
    this.segment = this.scanned = 0;
    return 'again';
  }

  // What is thrown away must be cut like any command, or the rest of it would be taken for commands.
  private dropLine(): Step {
    const end = this.input.indexOf(LF, this.scanned);
    const stop = end === -1 ? this.input.length : this.withoutCr(end);
    const start = Math.max(this.segment, stop - MARKER);
    const marker = end === -1 ? undefined : literalMarker(this.input.view(start, stop));
    const used = end === -1 ? start : end + 1;
    this.input.drop(used);
    this.dropped += used;
    this.segment = 0;
    this.scanned = end === -1 ? this.input.length : 0;
    if (this.dropped > this.limits.discard) return this.fatal('Command is too big');
    if (end === -1) return 'wait';
    if (marker && !marker.sync) this.skipLiteral(marker.size);
    else this.state = 'over';
    return 'again';
  }

  private say(): Step {
    const event = this.outcome;
    this.outcome = undefined;
    if (this.state === 'dead') this.input.clear();
    else this.finish(0);
    return event ?? 'wait';
  }

  private finish(used: number): 'again' {
    this.input.drop(used);
    this.state = 'line';
    this.segment = this.scanned = this.left = this.lines = this.literals = this.dropped = 0;
    this.appending = this.outcome = undefined;
    return 'again';
  }

  private withoutCr(end: number): number {
    return end > this.segment && this.input.at(end - 1) === CR ? end - 1 : end;
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
