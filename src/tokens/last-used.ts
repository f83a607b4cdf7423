import type { Store } from '../../mail/store/engine/types.ts';
import { stampSecrets } from './commands.ts';

const FLUSH_EVERY_MS = 30_000;
const MOST = 250;

/** Times of use, kept in memory and written together: a call costs no flush. */
export class LastUsed implements AsyncDisposable {
  readonly #store: Store;
  readonly #timer: NodeJS.Timeout;
  readonly #tokens = new Map<number, number>();
  readonly #keys = new Map<number, number>();

  constructor(store: Store) {
    this.#store = store;
    this.#timer = setInterval(() => void this.#flush().catch(() => undefined), FLUSH_EVERY_MS);
    this.#timer.unref();
  }

  token(id: number, at: number): void {
    this.#tokens.set(id, at);
  }

  key(id: number, at: number): void {
    this.#keys.set(id, at);
  }

  /** A listing is as fresh as what is still in memory. */
  freshest(id: number, stored: number | null, kind: 'token' | 'key'): number | null {
    return (kind === 'token' ? this.#tokens : this.#keys).get(id) ?? stored;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush().catch(() => undefined);
  }

  async #flush(): Promise<void> {
    while (this.#tokens.size + this.#keys.size > 0) {
      await this.#store.writeSlice(stampSecrets, { tokens: take(this.#tokens), keys: take(this.#keys) });
    }
  }
}

function take(from: Map<number, number>): [number, number][] {
  const taken = [...from].slice(0, MOST);
  for (const [id] of taken) from.delete(id);
  return taken;
}
