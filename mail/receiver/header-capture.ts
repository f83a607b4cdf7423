import { type Field, readFields } from '../message/header.ts';
import { LIMITS } from '../message/limits.ts';
import { OctetCollector } from '../message/octet-collector.ts';

/** Captures the header of a message that arrives in chunks, up to the size that is parsed. */
export class HeaderCapture {
  readonly #collected = new OctetCollector();

  push(chunk: Buffer): void {
    const room = LIMITS.header - this.#collected.size;
    if (room > 0) this.#collected.push(chunk.subarray(0, room));
  }

  /** Parses the fields above the first empty line. */
  fields(): Field[] {
    return readFields(this.#collected.octets.toString('latin1'), LIMITS.fields);
  }
}
