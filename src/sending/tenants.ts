import { tenantOf } from '../../mail/store/account.ts';
import type { Store } from '../../mail/store/engine/types.ts';

const MAX_KEPT = 10_000;

/** Whose the accounts are. Remembered: an account is never given to somebody else, nor is its number. */
export class Tenants {
  readonly #store: Pick<Store, 'read'>;
  readonly #kept = new Map<number, number>();

  constructor(store: Pick<Store, 'read'>) {
    this.#store = store;
  }

  /** Undefined for an account that is not there. */
  async of(account: number): Promise<number | undefined> {
    const kept = this.#kept.get(account);
    if (kept !== undefined) return kept;
    const tenant = await this.#store.read(tenantOf, { account });
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    if (tenant !== undefined) this.#kept.set(account, tenant);
    return tenant;
  }
}
