import type { AppContext } from '../core/app-context.ts';
import { strangersNetworks } from '../core/networks.ts';
import { lruMap } from '../../mail/limits/lru-map.ts';
import { KeyedSemaphore } from '../../mail/limits/keyed-semaphore.ts';
import { findClient } from './client-commands.ts';
import { fetchClient, type ClientLookup, isDocumentId } from './client-document.ts';

/** Cached metadata documents. */
const MAX_CACHED = 500;
const CACHE_MS = 15 * 60_000;
const CACHE_FAILURE_MS = 30_000;
/** Concurrent fetches, in total and of one person: a slow host holds each for 5 seconds. */
const MAX_FETCHES = 8;
const MAX_FETCHES_OF_PERSON = 2;
const MAX_ID_LENGTH = 500;

/** Finds clients: registered ones, and those with a metadata document, which is cached. */
export class Clients {
  readonly #context: Pick<AppContext, 'store' | 'clock' | 'settings' | 'resolver'>;
  readonly #cache = lruMap<string, { found: Promise<ClientLookup>; until: number }>(MAX_CACHED);
  readonly #fetches = new KeyedSemaphore({ person: MAX_FETCHES_OF_PERSON }, MAX_FETCHES);

  constructor(context: Pick<AppContext, 'store' | 'clock' | 'settings' | 'resolver'>) {
    this.#context = context;
  }

  /** `person`: the id of the signed-in person, whose fetches are counted. */
  async find(id: string, person: number): Promise<ClientLookup> {
    if (id.length > MAX_ID_LENGTH) return { problem: 'its client_id is too long' };
    if (isDocumentId(id)) return this.#document(id, person);
    const client = await this.#context.store.read(findClient, { id });
    return client === undefined ? { problem: 'its client_id is not registered' } : { client };
  }

  async #document(id: string, person: number): Promise<ClientLookup> {
    const now = this.#context.clock();
    const cached = this.#cache.get(id);
    if (cached !== undefined && cached.until > now) return cached.found;
    using permit = this.#fetches.tryAcquire({ person });
    if (permit === undefined) return { problem: 'too many concurrent lookups, try again later' };
    const { resolver, settings } = this.#context;
    const found = fetchClient(id, { resolver, allowed: strangersNetworks(settings.allowPrivateNetworks) });
    const entry = { found, until: now + CACHE_MS };
    this.#cache.set(id, entry);
    // Caches failures briefly, so that this server cannot be used to flood another host.
    if ('problem' in (await found)) entry.until = now + CACHE_FAILURE_MS;
    return found;
  }
}
