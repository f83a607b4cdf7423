import type { Decoder } from '../wire/decoder.ts';
import type { SearchCommand, SearchProgram } from './program.ts';

/** Reads what follows `SEARCH `: RETURN, CHARSET, keys. RFC 9051 6.4.4, RFC 4731, RFC 5032. */
export declare function parseSearch(d: Decoder): SearchCommand;

/**
 * Replaces what only the session can know: sequence numbers and `*` become UIDs of `uids[0..length)`, its numbering. Do
 * this before the program leaves the session. Numbers beyond the end match nothing.
 */
export declare function bindSearch(program: SearchProgram, uids: Uint32Array, length: number): SearchProgram;
