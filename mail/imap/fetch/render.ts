import type { MessageRow } from '../needs.ts';
import type { FetchRequest } from './items.ts';

/** One message to be rendered. `row` may be missing when the request reads the view only. */
export interface FetchedMessage {
  seq: number;
  uid: number;
  flags: readonly string[];
  row?: MessageRow;
  /** Octets of trace and blob together, clipped to what is there. */
  bytes?(start: number, length: number): Promise<Buffer>;
  /** Called when the stored message turns out shorter than promised; what was promised is padded with spaces. */
  onShort?(promised: number, found: number): void;
}

/** The whole `* n FETCH (...)` line for a request that reads no content. latin1. */
export declare function renderLine(request: FetchRequest, message: FetchedMessage): string;

/**
 * The response in pieces: latin1 strings and Buffers of at most 256 KiB. The length of a literal is always exactly what
 * follows. When `bytes` rejects, the response breaks off in the middle: the connection must be closed.
 */
export declare function renderFetch(request: FetchRequest, message: FetchedMessage): AsyncGenerator<string | Buffer>;
