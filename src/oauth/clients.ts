import { RecentMap } from '../../mail/guard/recent-map.ts';
import type { World } from '../operations/world.ts';
import { findClient } from './client-commands.ts';
import { fetchClient, type FoundClient, isDocumentId } from './client-document.ts';

const MOST_KEPT = 500;
const KEEP_MS = 15 * 60_000;
const KEEP_PROBLEM_MS = 30_000;
/** Documents that are asked for at the same time. */
const MOST_AT_ONCE = 8;
const LONGEST_ID = 500;

/** Who clients are: those that registered, and those that answer for themselves by a document, kept for a while. */
export class Clients {
  readonly #world: Pick<World, 'store' | 'clock' | 'settings' | 'resolver'>;
  readonly #kept = new RecentMap<string, { found: Promise<FoundClient>; until: number }>(MOST_KEPT);
  #asking = 0;

  constructor(world: Pick<World, 'store' | 'clock' | 'settings' | 'resolver'>) {
    this.#world = world;
  }

  async find(id: string): Promise<FoundClient> {
    if (id.length > LONGEST_ID) return { problem: 'its client_id is too long' };
    if (isDocumentId(id)) return this.#document(id);
    const client = await this.#world.store.read(findClient, { id });
    return client === undefined ? { problem: 'nobody registered under its client_id' } : { client };
  }

  async #document(id: string): Promise<FoundClient> {
    const now = this.#world.clock();
    const kept = this.#kept.get(id);
    if (kept !== undefined && kept.until > now) return kept.found;
    if (this.#asking >= MOST_AT_ONCE) return { problem: 'too many programs are looked up at this moment' };
    const found = this.#ask(id);
    const entry = { found, until: now + KEEP_MS };
    this.#kept.set(id, entry);
    // What went wrong is tried again soon; until then nobody can make this box knock at a door all the time.
    if ('problem' in (await found)) entry.until = now + KEEP_PROBLEM_MS;
    return found;
  }

  async #ask(id: string): Promise<FoundClient> {
    const { resolver, settings } = this.#world;
    this.#asking++;
    try {
      return await fetchClient(id, { resolver, allowed: settings.allowPrivateNetworks });
    } finally {
      this.#asking--;
    }
  }
}
