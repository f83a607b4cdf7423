import { DataReader } from '../smtp/data-reader.ts';
import type { OctetInput, SmtpResponse } from './response.ts';
import { endTransaction, type OpenTransfer, type SmtpSessionState } from './session-state.ts';

/** Reads the message after DATA. */
export class DataInput implements OctetInput {
  ended = false;
  readonly #reader = new DataReader();
  readonly #session: SmtpSessionState;
  readonly #transfer: OpenTransfer;
  rest: Buffer | undefined;

  constructor(session: SmtpSessionState, transfer: OpenTransfer) {
    this.#session = session;
    this.#transfer = transfer;
  }

  get octets(): number {
    return this.#transfer.octets;
  }

  feed(octets: Buffer): Promise<void> | undefined {
    const reader = this.#reader;
    const message = reader.read(octets);
    this.ended = reader.ended;
    if (reader.next < octets.length) this.rest = octets.subarray(reader.next);
    if (reader.flaw === undefined) return this.#transfer.take(message);
    this.#transfer.discard(octets.length);
    return undefined;
  }

  finish(): SmtpResponse | Promise<SmtpResponse> {
    endTransaction(this.#session);
    return this.#transfer.finish(this.#reader.flaw);
  }
}
