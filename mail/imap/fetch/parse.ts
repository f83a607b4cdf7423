import type { Decoder } from '../wire/decoder.ts';
import type { FetchRequest } from './items.ts';

/** Reads the items of FETCH: one, a list, or a macro. For UID FETCH the UID is added. RFC 9051 6.4.5, 6.4.9. */
export declare function parseFetch(d: Decoder, uid: boolean): FetchRequest;
/** The request with FLAGS added, for a message that FETCH just marked \Seen. */
export declare function withFlags(request: FetchRequest): FetchRequest;
