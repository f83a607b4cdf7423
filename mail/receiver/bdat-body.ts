import type { BdatReader } from '../smtp/bdat-reader.ts';
import { reply } from '../smtp/reply.ts';
import type { Answer, Body } from './answer.ts';
import { endTransaction, type Conversation } from './conversation.ts';
import type { Incoming } from './incoming.ts';

/** The octets of one BDAT command. */
export interface Chunk {
  octets: number;
  last: boolean;
}

/** One chunk of a message that is taken. */
export class BdatBody implements Body {
  ended: boolean;
  readonly #session: Conversation;
  readonly #incoming: Incoming;
  readonly #reader: BdatReader;
  readonly #chunk: Chunk;
  #rest: Buffer | undefined;

  constructor(session: Conversation, incoming: Incoming, reader: BdatReader, chunk: Chunk) {
    this.#session = session;
    this.#incoming = incoming;
    this.#reader = reader;
    this.#chunk = chunk;
    reader.begin(chunk.octets);
    this.ended = chunk.octets === 0;
  }

  get octets(): number {
    return this.#incoming.octets;
  }

  feed(octets: Buffer): Promise<void> | undefined {
    const message = this.#reader.read(octets);
    this.ended = this.#reader.remaining === 0;
    if (message.length < octets.length) this.#rest = octets.subarray(message.length);
    if (this.#reader.flaw === undefined) return this.#incoming.take(message);
    this.#incoming.spoil(message.length);
    return undefined;
  }

  rest(): Buffer | undefined {
    return this.#rest;
  }

  finish(): Answer | Promise<Answer> {
    if (this.#chunk.last) this.#reader.end();
    // Where a chunk ends is beyond doubt, so a lost message need not go on to its last one.
    if (!this.#chunk.last && !this.#incoming.lost) return reply(250, '2.0.0', `${this.#chunk.octets} octets taken`);
    endTransaction(this.#session);
    return this.#incoming.finish(this.#reader.flaw);
  }
}

/** The octets of a BDAT command that was refused: they come all the same, and are thrown away. */
export class RefusedChunk implements Body {
  octets = 0;
  ended: boolean;
  readonly #expected: number;
  readonly #answer: Answer;
  #rest: Buffer | undefined;

  constructor(expected: number, answer: Answer) {
    this.#expected = expected;
    this.#answer = answer;
    this.ended = expected === 0;
  }

  feed(octets: Buffer): undefined {
    const mine = Math.min(octets.length, this.#expected - this.octets);
    this.octets += mine;
    this.ended = this.octets === this.#expected;
    if (mine < octets.length) this.#rest = octets.subarray(mine);
  }

  rest(): Buffer | undefined {
    return this.#rest;
  }

  finish(): Answer {
    return this.#answer;
  }
}
