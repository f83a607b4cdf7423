import type { MailStore } from '../store/store.ts';
import { type ImportInput, importMessages, type ImportResult, MAX_IMPORTED } from '../store/transfer/imported.ts';

/** Octets of one commit, since they are copied to the writer thread. */
const MAX_OCTETS = 1024 * 1024;

interface WaitingMessage {
  input: ImportInput;
  resolve: (result: ImportResult) => void;
  reject: (error: unknown) => void;
}

/** Collects messages into commits. Low priority: mail that arrives meanwhile goes first. */
export class ImportBatches {
  readonly #store: MailStore;
  #waiting: WaitingMessage[] = [];
  #octets = 0;

  constructor(store: MailStore) {
    this.#store = store;
  }

  /** Resolves when the message is committed. A batch that is not full needs {@link flush}. */
  add(input: ImportInput): Promise<ImportResult> {
    const { promise, resolve, reject } = Promise.withResolvers<ImportResult>();
    this.#waiting.push({ input, resolve, reject });
    this.#octets += input.data?.byteLength ?? 0;
    if (this.#waiting.length >= MAX_IMPORTED || this.#octets >= MAX_OCTETS) this.flush();
    return promise;
  }

  /** Commits what was collected. */
  flush(): void {
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    this.#octets = 0;
    this.#store.writeSlice(importMessages, { messages: batch.map(({ input }) => input) }).then(
      (results) => {
        for (const [at, { resolve, reject }] of batch.entries()) {
          const result = results[at];
          if (result === undefined) reject(new Error('the store gave no result for a message'));
          else resolve(result);
        }
      },
      (error: unknown) => {
        for (const { reject } of batch) reject(error);
      },
    );
  }
}
