import type { AnnouncedLiteral } from '../command.ts';
import type { Session } from '../session.ts';
import type { ReaderProblem } from '../wire/command-reader.ts';
import { Decoder } from '../wire/decoder.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';

/**
 * The arguments of APPEND and REPLACE as they arrive: text, then a literal, text, ... A literal is streamed and never held
 * in memory. RFC 9051 6.3.12, RFC 3502, RFC 4469.
 */
export class AppendInput {
  readonly #session: Session;
  #text: Decoder;
  #literal: AnnouncedLiteral | undefined;

  /** `text`: the arguments up to the first literal. */
  constructor(session: Session, text: Buffer, literal: AnnouncedLiteral | undefined) {
    this.#session = session;
    this.#text = this.#decoder(text);
    this.#literal = literal;
  }

  /** The text since the last literal. */
  get text(): Decoder {
    return this.#text;
  }

  /** True at the end of the command. */
  get isComplete(): boolean {
    return this.#literal === undefined && this.#text.trailing();
  }

  /** The literal that follows the text, which must have been read. Throws ImapSyntaxError when there is none. */
  get literal(): AnnouncedLiteral {
    if (this.#literal === undefined || !this.#text.done)
      throw new ImapSyntaxError('The message must be sent as a literal');
    return this.#literal;
  }

  /** True when the literal follows here. */
  get isAtLiteral(): boolean {
    return this.#literal !== undefined && this.#text.done;
  }

  /** Yields the octets of the literal, after a continuation when it is synchronizing. Then {@link text} is what follows. */
  async *octets(): AsyncGenerator<Buffer> {
    const session = this.#session;
    const { sync } = this.literal;
    session.reader.accept();
    if (sync) session.sendContinuation('Ready for the message');
    for (let last = false; !last;) {
      const event = session.reader.next();
      if (event === undefined) await session.waitForInput();
      else if (event.kind === 'problem') failLiteral(session, event);
      else if (event.kind !== 'literal-data') throw new Error(`${event.kind} within a literal`);
      else {
        ({ last } = event);
        yield event.bytes;
      }
    }
    await this.#readText();
  }

  /** The text of a short literal. */
  async shortText(limit: number): Promise<string> {
    if (this.literal.size > limit) throw new ImapSyntaxError('Literal is too big');
    const pieces: Buffer[] = [];
    for await (const piece of this.octets()) pieces.push(piece);
    return Buffer.concat(pieces).toString('latin1');
  }

  /** Reads up to the next literal or the end of the command. */
  async #readText(): Promise<void> {
    const session = this.#session;
    let event = session.reader.next();
    if (event === undefined) {
      await acknowledge(session);
      event = session.reader.next();
    }
    while (event === undefined) {
      await session.waitForInput();
      event = session.reader.next();
    }
    switch (event.kind) {
      case 'append-literal':
        this.#text = this.#decoder(event.head);
        this.#literal = event;
        return;
      case 'append-end':
        session.readingLiteral = false;
        this.#text = this.#decoder(event.rest);
        this.#literal = undefined;
        return;
      case 'problem':
        return failLiteral(session, event);
      case 'command':
      case 'literal-data':
      case 'need-continuation':
      case 'refused':
        throw new Error(`${event.kind} after a literal`);
    }
  }

  #decoder(text: Buffer): Decoder {
    return new Decoder(text, { lists: MAX_OPEN_LISTS, utf8: this.#session.utf8 });
  }
}

/** Nested lists: only flags are in one. */
const MAX_OPEN_LISTS = 2;

/**
 * Sends a line when the rest of a command has not come with its literal. A client that writes the final CRLF on its own
 * waits for an acknowledgment of the literal (Nagle), which TCP delays by 40 ms unless it is sent with data.
 */
async function acknowledge(session: Session): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  if (session.reader.buffered > 0 || !session.open) return;
  session.output.write('* OK Message received\r\n');
  session.output.flush();
}

function failLiteral(session: Session, problem: ReaderProblem): never {
  session.readingLiteral = false;
  if (problem.fatal) session.bye(problem.text);
  throw new ImapSyntaxError(problem.text);
}
