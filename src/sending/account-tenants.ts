import { tenantOf } from '../../mail/store/account/account.ts';
import { lruMap } from '../../mail/limits/lru-map.ts';
import type { Store } from '../../mail/store/engine/types.ts';

/** Cached accounts. */
const MAX_CACHED = 10_000;

/** Looks up the tenant of an account. Cached, as accounts never change tenant and ids are never reused. */
export class AccountTenants {
  readonly #store: Pick<Store, 'read'>;
  readonly #cache = lruMap<number, number>(MAX_CACHED);

  constructor(store: Pick<Store, 'read'>) {
    this.#store = store;
  }

  /** Returns undefined if the account does not exist. */
  async of(account: number): Promise<number | undefined> {
    const kept = this.#cache.get(account);
    if (kept !== undefined) return kept;
    const tenant = await this.#store.read(tenantOf, { account });
    if (tenant !== undefined) this.#cache.set(account, tenant);
    return tenant;
  }
}
