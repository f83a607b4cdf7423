import type { BdatReader } from '../smtp/bdat-reader.ts';
import { reply } from '../smtp/reply.ts';
import type { OctetInput, SmtpResponse } from './response.ts';
import { endTransaction, type OpenTransfer, type SmtpSessionState } from './session-state.ts';

/** The parameters of one BDAT command. */
export interface BdatChunk {
  octets: number;
  last: boolean;
}

/** Reads one chunk of a message. */
export class BdatInput implements OctetInput {
  ended: boolean;
  readonly #session: SmtpSessionState;
  readonly #transfer: OpenTransfer;
  readonly #reader: BdatReader;
  readonly #chunk: BdatChunk;
  rest: Buffer | undefined;

  constructor(session: SmtpSessionState, transfer: OpenTransfer, reader: BdatReader, chunk: BdatChunk) {
    this.#session = session;
    this.#transfer = transfer;
    this.#reader = reader;
    this.#chunk = chunk;
    reader.begin(chunk.octets);
    this.ended = chunk.octets === 0;
  }

  get octets(): number {
    return this.#transfer.octets;
  }

  feed(octets: Buffer): Promise<void> | undefined {
    const message = this.#reader.read(octets);
    this.ended = this.#reader.remaining === 0;
    if (message.length < octets.length) this.rest = octets.subarray(message.length);
    if (this.#reader.flaw === undefined) return this.#transfer.take(message);
    this.#transfer.discard(message.length);
    return undefined;
  }

  finish(): SmtpResponse | Promise<SmtpResponse> {
    if (this.#chunk.last) this.#reader.end();
    // The length of a chunk is explicit, so a discarded message is refused before its last one.
    if (!this.#chunk.last && !this.#transfer.discarded) {
      return reply(250, '2.0.0', `${this.#chunk.octets} octets received`);
    }
    endTransaction(this.#session);
    return this.#transfer.finish(this.#reader.flaw);
  }
}

/** Discards the octets that follow a refused BDAT command. */
export class RefusedBdatInput implements OctetInput {
  octets = 0;
  ended: boolean;
  readonly #expected: number;
  readonly #response: SmtpResponse;
  rest: Buffer | undefined;

  constructor(expected: number, response: SmtpResponse) {
    this.#expected = expected;
    this.#response = response;
    this.ended = expected === 0;
  }

  feed(octets: Buffer): undefined {
    const own = Math.min(octets.length, this.#expected - this.octets);
    this.octets += own;
    this.ended = this.octets === this.#expected;
    if (own < octets.length) this.rest = octets.subarray(own);
  }

  finish(): SmtpResponse {
    return this.#response;
  }
}
