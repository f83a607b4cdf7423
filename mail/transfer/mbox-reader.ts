import { fromLineTime, isFromLine, MAX_FROM_LINE, EXPORT_SENDER } from './mbox-line.ts';
import { contentLengthIn } from './mbox-fields.ts';
import type { RandomReader } from './source-message.ts';

const LF = 10;
const CR = 13;
const QUOTE = 62;
const WINDOW = 256 * 1024;
/** Octets of a header in which Content-Length is looked for. */
const MAX_HEADER = 64 * 1024;
/** Messages whose Content-Length must be right before it is believed: anybody can write that field. */
const SAMPLE = 20;

/** `rd`: lines that begin with "From " have one more '>'. `cl2`: Content-Length delimits messages, nothing is quoted. */
export type MboxKind = 'rd' | 'cl2';

/** A message in an mbox file. */
export interface MboxMessage {
  /** The From_ line, without its line end. */
  line: string;
  /** ms UTC; undefined: the line has none. */
  receivedAt: number | undefined;
  /** True if this program exported it. */
  exported: boolean;
  /** First octet after the From_ line. */
  start: number;
  /** Octet after the last one. */
  end: number;
}

/** Reads an mbox file in linear time and constant memory. */
export class MboxReader {
  readonly #file: RandomReader;
  readonly #kind: MboxKind;

  private constructor(file: RandomReader, kind: MboxKind) {
    this.#file = file;
    this.#kind = kind;
  }

  /** Finds out the kind of a file. Undefined: it is no mbox. */
  static async open(file: RandomReader): Promise<MboxReader | undefined> {
    const start = await firstMessage(file);
    if (start === undefined) return undefined;
    return new MboxReader(file, (await isContentLength(file, start)) ? 'cl2' : 'rd');
  }

  get kind(): MboxKind {
    return this.#kind;
  }

  /** The messages in their order. */
  async *messages(): AsyncGenerator<MboxMessage> {
    let at = await firstMessage(this.#file);
    while (at !== undefined && at < this.#file.size) {
      const message = await this.#messageAt(at);
      if (message === undefined) return;
      yield message;
      at = await afterBlank(this.#file, message.end);
    }
  }

  /** The octets of a message, without the quoting of the kind. */
  async *octets({ start, end }: MboxMessage): AsyncGenerator<Buffer> {
    const unquote = this.#kind === 'rd' ? new FromUnquoter() : undefined;
    for (let at = start; at < end;) {
      const chunk = await this.#file.read(at, Math.min(WINDOW, end - at));
      if (chunk.length === 0) return;
      at += chunk.length;
      if (unquote === undefined) yield chunk;
      else yield unquote.push(chunk);
    }
    if (unquote !== undefined) yield unquote.end();
  }

  async #messageAt(at: number): Promise<MboxMessage | undefined> {
    const { line, next } = await lineAt(this.#file, at);
    if (!isFromLine(line)) return undefined;
    const byLength = this.#kind === 'cl2' ? await endByLength(this.#file, next) : undefined;
    const end = byLength ?? (await separatorAfter(this.#file, next));
    return {
      line,
      receivedAt: fromLineTime(line),
      exported: line.startsWith(`From ${EXPORT_SENDER} `),
      start: next,
      end,
    };
  }
}

/** Position of the first From_ line: blank lines may precede it. */
async function firstMessage(file: RandomReader): Promise<number | undefined> {
  const head = await file.read(0, MAX_FROM_LINE);
  let at = 0;
  while (head[at] === LF || head[at] === CR) at++;
  return isFromLine((await lineAt(file, at)).line) ? at : undefined;
}

async function lineAt(file: RandomReader, at: number): Promise<{ line: string; next: number }> {
  const octets = await file.read(at, MAX_FROM_LINE + 2);
  const end = octets.indexOf(LF);
  if (end < 0) return { line: octets.toString('latin1'), next: at + octets.length };
  return { line: octets.toString('latin1', 0, octets[end - 1] === CR ? end - 1 : end), next: at + end + 1 };
}

/** True if Content-Length leads from each of the first messages to the next one, so that it can be believed. */
async function isContentLength(file: RandomReader, first: number): Promise<boolean> {
  let at = first;
  for (let n = 0; n < SAMPLE && at < file.size; n++) {
    const { next } = await lineAt(file, at);
    const end = await endByLength(file, next);
    if (end === undefined) return false;
    at = await afterBlank(file, end);
  }
  return true;
}

/** End of the message whose header begins at `start`, by its Content-Length; undefined if no message ends there. */
async function endByLength(file: RandomReader, start: number): Promise<number | undefined> {
  const head = await file.read(start, MAX_HEADER);
  const field = contentLengthIn(head);
  if (field === undefined) return undefined;
  const end = start + field.headerLength + field.contentLength;
  if (end > file.size) return undefined;
  const after = await afterBlank(file, end);
  return after >= file.size || isFromLine((await lineAt(file, after)).line) ? end : undefined;
}

/** Position after one blank line. */
async function afterBlank(file: RandomReader, at: number): Promise<number> {
  const octets = await file.read(at, 2);
  if (octets[0] === LF) return at + 1;
  return octets[0] === CR && octets[1] === LF ? at + 2 : at;
}

/** End of the message: the blank line before the next From_ line, or the end of the file without its last blank line. */
async function separatorAfter(file: RandomReader, start: number): Promise<number> {
  if (isFromLine((await lineAt(file, start)).line)) return start;
  for (let base = start; ;) {
    const window = await file.read(base, WINDOW);
    for (let at = window.indexOf('\nFrom '); at >= 0; at = window.indexOf('\nFrom ', at + 1)) {
      const end = await endBefore(file, start, base + at + 1);
      if (end !== undefined && isFromLine((await lineAt(file, base + at + 1)).line)) return end;
    }
    if (base + window.length >= file.size || window.length < OVERLAP) return lastEnd(file, start);
    base += window.length - OVERLAP;
  }
}

/** Octets of "\nFrom " that the end of a window may cut, all but one. */
const OVERLAP = 5;

/** End of the message before the blank line before `position`; undefined if no blank line is there. */
async function endBefore(file: RandomReader, start: number, position: number): Promise<number | undefined> {
  const from = Math.max(start, position - 4);
  const before = await file.read(from, position - from);
  let left = before.length;
  if (before[left - 1] !== LF) return undefined;
  left -= before[left - 2] === CR ? 2 : 1;
  return left === 0 || before[left - 1] === LF ? from + left : undefined;
}

async function lastEnd(file: RandomReader, start: number): Promise<number> {
  return (await endBefore(file, start, file.size)) ?? file.size;
}

/** Removes one '>' from lines that begin with ">From " after any number of them. */
export class FromUnquoter {
  #held = Buffer.alloc(0);
  #atLineStart = true;

  push(chunk: Buffer): Buffer {
    const octets = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    return this.#unquote(octets, false);
  }

  /** The rest of the last line. */
  end(): Buffer {
    const octets = this.#held;
    this.#held = Buffer.alloc(0);
    return this.#unquote(octets, true);
  }

  #unquote(octets: Buffer, last: boolean): Buffer {
    const pieces: Buffer[] = [];
    let from = 0;
    for (const line of linesWithQuotes(octets, this.#atLineStart)) {
      const quote = quoteAt(octets, line);
      if (quote === 'plain' || (quote === 'open' && last)) continue;
      pieces.push(octets.subarray(from, line));
      from = line + 1;
      if (quote === 'quoted') continue;
      this.#held = Buffer.from(octets.subarray(line));
      this.#atLineStart = true;
      return Buffer.concat(pieces);
    }
    if (octets.length > 0) this.#atLineStart = octets[octets.length - 1] === LF;
    return pieces.length === 0 ? octets : Buffer.concat([...pieces, octets.subarray(from)]);
  }
}

/** Positions of lines that begin with '>'. */
function* linesWithQuotes(octets: Buffer, atLineStart: boolean): Generator<number> {
  if (atLineStart && octets[0] === QUOTE) yield 0;
  for (let at = octets.indexOf('\n>'); at >= 0; at = octets.indexOf('\n>', at + 1)) yield at + 1;
}

/** A line of more than so many '>' is no quoted "From ". */
const MAX_QUOTES = 1_000;

/** `open`: the octets end before it is decided. */
function quoteAt(octets: Buffer, line: number): 'quoted' | 'plain' | 'open' {
  let at = line;
  while (at < octets.length && octets[at] === QUOTE) if (++at - line > MAX_QUOTES) return 'plain';
  if (octets.length - at < 5) {
    return 'From '.startsWith(octets.toString('latin1', at)) ? 'open' : 'plain';
  }
  return octets.toString('latin1', at, at + 5) === 'From ' ? 'quoted' : 'plain';
}
