import { DataReader } from '../smtp/data-reader.ts';
import type { Answer, Body } from './answer.ts';
import { endTransaction, type Conversation } from './conversation.ts';
import type { Incoming } from './incoming.ts';

/** The message after DATA. */
export class DataBody implements Body {
  ended = false;
  readonly #reader = new DataReader();
  readonly #session: Conversation;
  readonly #incoming: Incoming;
  #rest: Buffer | undefined;

  constructor(session: Conversation, incoming: Incoming) {
    this.#session = session;
    this.#incoming = incoming;
  }

  get octets(): number {
    return this.#incoming.octets;
  }

  feed(octets: Buffer): Promise<void> | undefined {
    const reader = this.#reader;
    const message = reader.read(octets);
    this.ended = reader.ended;
    if (reader.next < octets.length) this.#rest = octets.subarray(reader.next);
    if (reader.flaw === undefined) return this.#incoming.take(message);
    this.#incoming.spoil(octets.length);
    return undefined;
  }

  rest(): Buffer | undefined {
    return this.#rest;
  }

  finish(): Answer | Promise<Answer> {
    endTransaction(this.#session);
    return this.#incoming.finish(this.#reader.flaw);
  }
}
