import type { AccountCredentials, CredentialSource } from '../mail/login/needs.ts';
import { parseAddress } from '../mail/message/address.ts';
import { findLogin, stampCredentials } from '../mail/store/credential.ts';
import type { MailStore } from '../mail/store/store.ts';

const FLUSH_EVERY_MS = 30_000;

/** Credentials out of the store. Times of use are kept in memory and written together: a login costs no flush. */
export class StoredCredentials implements CredentialSource, AsyncDisposable {
  readonly #store: MailStore;
  readonly #timer: NodeJS.Timeout;
  #used = new Map<number, number>();

  constructor(store: MailStore) {
    this.#store = store;
    this.#timer = setInterval(() => void this.#flush().catch(() => undefined), FLUSH_EVERY_MS);
    this.#timer.unref();
  }

  async find(user: string): Promise<AccountCredentials | undefined> {
    const row = await this.#store.read(findLogin, { key: user });
    const address = row && parseAddress(row.address);
    if (row === undefined || address === undefined) return undefined;
    return {
      account: row.account,
      address,
      salt: Buffer.from(row.salt),
      iterations: row.iterations,
      credentials: row.credentials.map((one) => ({
        ...one,
        storedKey: Buffer.from(one.storedKey),
        serverKey: Buffer.from(one.serverKey),
      })),
    };
  }

  used(credential: number, at: number): void {
    this.#used.set(credential, at);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush().catch(() => undefined);
  }

  async #flush(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = [...this.#used].slice(0, 500);
    for (const [credential] of used) this.#used.delete(credential);
    await this.#store.writeSlice(stampCredentials, { used });
  }
}
