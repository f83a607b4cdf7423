import { firstField, readFields, unfold } from './header.ts';
import type { MessageFacts } from './index-types.ts';
import { LIMITS } from './limits.ts';
import { ownId } from './msg-id.ts';

const LF = 10;
const CR = 13;

/**
 * Learns as little of a message as can be told of one that only passes through: less than a tenth of what its index costs. To
 * be used like a `MessageIndexer`, which finds the same.
 */
export class FactsReader {
  /** The header so far; undefined when all of it is read that is looked at. */
  #header: Buffer | undefined = Buffer.alloc(0);
  #size = 0;
  #messageId = '';
  #received = 0;

  /** The chunk is not kept: it may be used again by the caller. */
  push(chunk: Uint8Array): void {
    this.#size += chunk.length;
    if (this.#header === undefined) return;
    this.#header = Buffer.concat([this.#header, chunk]);
    const end = headerEnd(this.#header);
    if (end >= 0 || this.#header.length >= LIMITS.header) this.#read(this.#header, end);
  }

  end(): MessageFacts {
    if (this.#header !== undefined) this.#read(this.#header, -1);
    return { size: this.#size, messageId: this.#messageId, received: this.#received };
  }

  #read(header: Buffer, end: number): void {
    this.#header = undefined;
    const length = Math.min(end < 0 ? header.length : end, LIMITS.header);
    const fields = readFields(header.toString('latin1', 0, length), LIMITS.fields + 1);
    const own = ownId(unfold(firstField(fields, 'message-id')?.slice(0, LIMITS.field) ?? ''));
    this.#messageId = own === '' ? '' : `<${own}>`;
    this.#received = fields.filter(({ name }) => name === 'received').length;
  }
}

/** Where the fields end, or -1 while no empty line has come. It may be the first line, and end in LF alone. */
function headerEnd(header: Buffer): number {
  if (header[0] === LF || (header[0] === CR && header[1] === LF)) return 0;
  const ends = [header.indexOf('\n\r\n'), header.indexOf('\n\n')].filter((at) => at >= 0);
  return ends.length === 0 ? -1 : Math.min(...ends) + 1;
}
