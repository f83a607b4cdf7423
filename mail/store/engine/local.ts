import { closeWriting, openForWriting } from './connection.ts';
import { StoreFailure, toError, type WriterClientOptions } from './client.ts';
import { copyBeforeUpgrade } from './upgrade-copy.ts';
import { migrate } from './migrate.ts';
import type { ThreadParts } from './thread.ts';
import { type Command, StoreBusy } from './types.ts';
import { type WriteJob, Writer } from './writer.ts';

/** The writer on the calling thread, for tools that write and exit, and for tests. */
export class LocalWriter {
  readonly #options: Omit<WriterClientOptions, 'thread'>;
  readonly #writer: Writer;
  readonly #close: () => void;
  readonly #waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  #jobs: WriteJob[] = [];
  #id = 0;
  #ended: Error | undefined;
  #idle: (() => void) | undefined;

  constructor(options: Omit<WriterClientOptions, 'thread'>, parts: ThreadParts) {
    this.#options = options;
    copyBeforeUpgrade(options.database, parts.migrations);
    const connection = openForWriting(options.database);
    migrate(connection, parts.migrations);
    this.#close = () => closeWriting(connection);
    this.#writer = new Writer(connection, parts, {
      more: () => this.#jobs.splice(0),
      answer: (answers, wakeUps) => {
        if (wakeUps.length > 0) options.committed(wakeUps);
        for (const answer of answers) {
          const waiting = this.#waiting.get(answer.id);
          this.#waiting.delete(answer.id);
          if (answer.ok) waiting?.resolve(answer.value as never);
          else waiting?.reject(toError(answer.failure));
        }
      },
      fatal: (failure) => {
        this.#ended = new StoreFailure(failure);
        for (const waiting of this.#waiting.values()) waiting.reject(this.#ended);
        this.#waiting.clear();
        options.fatal(this.#ended);
      },
      idle: () => this.#idle?.(),
    });
  }

  get depth(): number {
    return this.#waiting.size;
  }

  write<I, O>(what: Command<I, O>, input: I, slice: boolean): Promise<O> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (this.#waiting.size > 20_000) return Promise.reject(new StoreBusy('queue', 'too many writes are pending'));
    const id = ++this.#id;
    // Cloned, as it would be between threads.
    this.#jobs.push({
      id,
      name: what.name,
      input: structuredClone(input),
      stamp: { now: this.#options.clock() },
      slice,
    });
    queueMicrotask(() => this.#writer.submit(this.#jobs.splice(0)));
    return new Promise<O>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
  }

  async close(): Promise<void> {
    if (this.#waiting.size > 0 && this.#ended === undefined) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    this.#close();
  }
}
