import { z } from 'zod';
import type { ProviderApi } from '../provider-api.ts';
import type { DnsProviderKind, ZoneClient } from '../zone-client.ts';
import { dataOf, type RecordSetChange, relativeName, ttlOf, type ZoneEntry } from '../zone-entry.ts';
import { bearerApi, dataAfter, entriesOfSet, readPages } from './shared.ts';

const TITLE = 'Hetzner';
const SCOPE = 'an API token with read and write access to the project that holds the zone';
const PAGE = 100;
const Zone = z.object({ zone: z.object({ id: z.number(), name: z.string(), ttl: z.number() }) });
const Sets = z.object({
  rrsets: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      ttl: z.number().nullable(),
      records: z.array(z.object({ value: z.string() })),
    }),
  ),
  meta: z.object({ pagination: z.object({ next_page: z.number().nullable() }) }),
});

/** https://docs.hetzner.cloud: record sets, with actions on the records of one set. */
export const HETZNER: DnsProviderKind = {
  id: 'hetzner',
  title: TITLE,
  scope: SCOPE,
  fields: [{ name: 'token', label: 'API token of the Cloud project', secret: true }],
  async open(zone, { token = '' }, tools) {
    const api = bearerApi({ title: TITLE, scope: SCOPE, base: 'https://api.hetzner.cloud/v1', token, tools });
    const found = await api.find(Zone, 'GET', `/zones/${zone}`);
    return found && new HetznerZone(zone, api, found.value.zone.ttl);
  },
};

class HetznerZone implements ZoneClient {
  readonly zone: string;
  readonly #api: ProviderApi;
  readonly #ttl: number;

  constructor(zone: string, api: ProviderApi, ttl: number) {
    this.zone = zone;
    this.#api = api;
    this.#ttl = ttl;
  }

  async list(): Promise<ZoneEntry[]> {
    const sets = await readPages(1, async (page: number) => {
      const path = `/zones/${this.zone}/rrsets?page=${page}&per_page=${PAGE}`;
      const { rrsets, meta } = await this.#api.call(Sets, 'GET', path);
      return { items: rrsets, next: meta.pagination.next_page ?? undefined };
    });
    return sets.flatMap(({ name, type, ttl, records }) => {
      return entriesOfSet({ name, type, ttl: ttl ?? this.#ttl, data: records.map(({ value }) => value) }, this.zone);
    });
  }

  /** Adding and removing leave other records of the set alone, whoever changed them meanwhile. */
  async change(change: RecordSetChange): Promise<void> {
    const { name, type, remove, add } = change;
    const set = `/zones/${this.zone}/rrsets/${relativeName(name, this.zone, '@')}/${type}/actions`;
    const act = async (action: string, data: readonly string[], more: object = {}): Promise<void> => {
      const records = data.map((value) => ({ value }));
      await this.#api.call(z.unknown(), 'POST', `${set}/${action}`, { records, ...more });
    };
    if (remove.length > 0 && add.length > 0) return act('set_records', dataAfter(change));
    if (remove.length > 0)
      return act(
        'remove_records',
        remove.map(({ raw }) => raw),
      );
    // A set that exists keeps its TTL.
    const ttl = change.keep.length > 0 ? {} : { ttl: ttlOf(change) };
    return act(
      'add_records',
      add.map((entry) => entry.raw ?? dataOf(entry)),
      ttl,
    );
  }
}
