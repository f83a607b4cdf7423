import type { AsciiText } from './lacks-texts.ts';
import type { RowFacts } from './matcher.ts';

/** Finds the octets of one message and the texts in them. */
export interface SearchRow {
  uid: number;
  /** MessageIndex.parts; read only for a search in bodies. */
  parts: string;
  /** Octets before the blob. */
  traceLength: number;
  /** Trace and blob, if they were read together with others and are ASCII. */
  ascii?: AsciiText | undefined;
}

/** Headers, headers and parts, or parts and whole messages. */
export type ReadOfRows = 'headers' | 'parts' | 'messages';

/** Source of rows and octets, in the requested order, without messages that no longer exist. */
export interface SearchSource<Row extends SearchRow = SearchRow> {
  /** Facts of at most 1,000 UIDs. */
  facts(uids: readonly number[]): Promise<MessageRowFacts[]> | MessageRowFacts[];
  /** Rows of at most 200 UIDs, and what will be read of most of them. */
  rows(uids: readonly number[], reads: ReadOfRows): Promise<Row[]> | Row[];
  /** The header of trace and blob with its empty line, one character an octet. */
  header(row: Row): Promise<string> | string;
  /** Trace and blob. */
  whole(row: Row): Promise<Uint8Array> | Uint8Array;
  /** Yields to other queries when its time slice is over. */
  pause?(): Promise<void> | undefined;
}

/** Facts of one message. */
export interface MessageRowFacts extends RowFacts {
  uid: number;
}
