import type { Job } from '../../mail/jobs/scheduler.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import { stampSecrets } from './commands.ts';

const MAX_BATCH = 250;

/** Collects last-used times in memory and writes them in batches, so that a call needs no flush. */
export class LastUsed implements Job, AsyncDisposable {
  readonly name = 'token-last-used';
  readonly everyMs = 30_000;
  readonly #store: Store;
  readonly #tokens = new Map<number, number>();
  readonly #keys = new Map<number, number>();

  constructor(store: Store) {
    this.#store = store;
  }

  token(id: number, at: number): void {
    this.#tokens.set(id, at);
  }

  key(id: number, at: number): void {
    this.#keys.set(id, at);
  }

  /** The last-used time, including times not written yet. */
  freshest(id: number, stored: number | null, kind: 'token' | 'key'): number | null {
    return (kind === 'token' ? this.#tokens : this.#keys).get(id) ?? stored;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run().catch(() => undefined);
  }

  /** Writes the collected last-used times. */
  async run(): Promise<void> {
    while (this.#tokens.size + this.#keys.size > 0) {
      await this.#store.writeSlice(stampSecrets, { tokens: take(this.#tokens), keys: take(this.#keys) });
    }
  }
}

function take(from: Map<number, number>): [number, number][] {
  const taken = [...from].slice(0, MAX_BATCH);
  for (const [id] of taken) from.delete(id);
  return taken;
}
