import { Lanes } from '../lanes.ts';
import { readerLane } from '../reader-pool.ts';
import type { Query } from '../types.ts';
import { PostgresReader } from './reader.ts';

/** Concurrent long queries, each with a connection. */
const MAX_SCANS = 8;

/** Runs long queries. Those of one account are serialized, so that a busy account delays only itself. */
export class PostgresScans {
  readonly #reader: PostgresReader;
  readonly #lanes = new Lanes<string>();

  constructor(url: string) {
    this.#reader = new PostgresReader(url, MAX_SCANS);
  }

  query<I, O>(what: Query<I, O>, input: I): Promise<O> {
    return this.#lanes.run(readerLane(input), () => this.#reader.query(what, input));
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}
