import type { Job } from '../../mail/jobs/scheduler.ts';
import type { AccountCredentials, CredentialSource } from '../../mail/login/credentials.ts';
import { parseAddress } from '../../mail/message/address.ts';
import { findLogin, stampCredentials } from '../../mail/store/account/credential.ts';
import type { MailStore } from '../../mail/store/store.ts';

/** Credentials from the store. Collects last-used times in memory and writes them in batches, so that a login needs no flush. */
export class StoredCredentials implements CredentialSource, Job, AsyncDisposable {
  readonly name = 'password-last-used';
  readonly everyMs = 30_000;
  readonly #store: MailStore;
  #used = new Map<number, number>();

  constructor(store: MailStore) {
    this.#store = store;
  }

  async find(user: string): Promise<AccountCredentials | undefined> {
    const row = await this.#store.read(findLogin, { key: user });
    const address = row && parseAddress(row.address);
    if (row === undefined || address === undefined) return undefined;
    return {
      account: row.account,
      tenant: row.tenant,
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
    await this.run().catch(() => undefined);
  }

  /** Writes the collected last-used times. */
  async run(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = [...this.#used].slice(0, 500);
    for (const [credential] of used) this.#used.delete(credential);
    await this.#store.writeSlice(stampCredentials, { used });
  }
}
