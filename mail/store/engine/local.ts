import { StoreFailure, toError, type WriterClientOptions } from './client.ts';
import { openWriter } from './open-writer.ts';
import type { ThreadParts } from './thread.ts';
import { type Command, StoreBusy, type WakeUp } from './types.ts';
import type { CommandWriter, WriteJob, WriteResponse } from './writer-host.ts';

/** The writer on the calling thread, for tools that write and exit, and for tests. */
export class LocalWriter {
  readonly #options: Omit<WriterClientOptions, 'thread'>;
  #writer: CommandWriter | undefined;
  readonly #waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  #jobs: WriteJob[] = [];
  #id = 0;
  #ended: Error | undefined;
  #idle: (() => void) | undefined;

  private constructor(options: Omit<WriterClientOptions, 'thread'>) {
    this.#options = options;
  }

  static async start(options: Omit<WriterClientOptions, 'thread'>, parts: ThreadParts): Promise<LocalWriter> {
    const local = new LocalWriter(options);
    local.#writer = await openWriter(options.database, parts, {
      more: () => local.#jobs.splice(0),
      answer: (answers, wakeUps) => local.#answer(answers, wakeUps),
      fatal(failure) {
        local.#ended = new StoreFailure(failure);
        for (const waiting of local.#waiting.values()) waiting.reject(local.#ended);
        local.#waiting.clear();
        options.fatal(local.#ended);
      },
      idle: () => local.#idle?.(),
      upgrading: options.upgrading,
    });
    return local;
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
    queueMicrotask(() => this.#writer?.submit(this.#jobs.splice(0)));
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
    await this.#writer?.close();
  }

  #answer(answers: readonly WriteResponse[], wakeUps: readonly WakeUp[]): void {
    const seen = wakeUps.length > 0 ? this.#options.committed(wakeUps) : undefined;
    if (seen === undefined) this.#settle(answers);
    else
      void seen.then(() => {
        this.#settle(answers);
        if (this.#waiting.size === 0) this.#idle?.();
      });
  }

  #settle(answers: readonly WriteResponse[]): void {
    for (const answer of answers) {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if (answer.ok) waiting?.resolve(answer.value as never);
      else waiting?.reject(toError(answer.failure));
    }
  }
}
