import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { StoreBusy, type Row, type Value } from '../types.ts';

/** A statement for the thread that asks the database. */
export interface BlockingRequest {
  how: 'all' | 'run';
  sql: string;
  params: readonly Value[];
}

export type BlockingReply =
  | { ok: true; value: Row[] | { changes: number; id: number } }
  | { ok: false; isAway: boolean; message: string; code: unknown };

/** Start parameters of that thread. `answered`: number of replies, as Int32. */
export interface BlockingThreadData {
  url: string;
  port: MessagePort;
  answered: SharedArrayBuffer;
}

/** Longest wait for a reply, ms. A silent thread of the store is ended after 30 s. */
const PATIENCE_MS = 20_000;

/**
 * One connection to PostgreSQL whose statements block the calling thread, as those of SQLite do. For threads that may
 * block: never for the main thread of a server.
 */
export class BlockingPostgres {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #answered = new Int32Array(new SharedArrayBuffer(4));
  #isLost = false;

  constructor(url: string) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const workerData: BlockingThreadData = { url, port: port2, answered: this.#answered.buffer };
    this.#worker = new Worker(new URL('blocking-thread.ts', import.meta.url), {
      workerData,
      transferList: [port2],
      name: 'blocking database',
    });
    this.#worker.unref();
    this.#worker.on('error', () => (this.#isLost = true));
  }

  get<T extends Row>(sql: string, params: readonly Value[]): T | undefined {
    return this.all<T>(sql, params)[0];
  }

  all<T extends Row>(sql: string, params: readonly Value[]): T[] {
    return this.#ask({ how: 'all', sql, params }) as T[];
  }

  run(sql: string, params: readonly Value[]): { changes: number; id: number } {
    return this.#ask({ how: 'run', sql, params }) as { changes: number; id: number };
  }

  close(): void {
    this.#port.close();
    void this.#worker.terminate();
  }

  #ask(request: BlockingRequest): unknown {
    if (this.#isLost) throw away();
    const before = Atomics.load(this.#answered, 0);
    this.#port.postMessage(request);
    // A later reply would be taken for that of the next statement.
    this.#isLost = Atomics.wait(this.#answered, 0, before, PATIENCE_MS) === 'timed-out';
    if (this.#isLost) throw away();
    const reply = receiveMessageOnPort(this.#port)?.message as BlockingReply;
    if (reply.ok) return reply.value;
    this.#isLost = reply.isAway;
    throw reply.isAway ? away() : Object.assign(new Error(reply.message), { code: reply.code });
  }
}

function away(): StoreBusy {
  return new StoreBusy('database', 'the database does not answer');
}
