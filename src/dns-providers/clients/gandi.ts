import { z } from 'zod';
import type { ProviderApi } from '../provider-api.ts';
import type { DnsProviderKind, ZoneClient } from '../zone-client.ts';
import { type RecordSetChange, relativeName, ttlOf, type ZoneEntry } from '../zone-entry.ts';
import { bearerApi, dataAfter, entriesOfSet, readPages } from './shared.ts';

const TITLE = 'Gandi';
const SCOPE =
  'a personal access token with "See and renew domain names" and "Manage domain name technical configurations"';
const PAGE = 100;
/** TTLs that are accepted. */
const MIN_TTL = 300;
const Domain = z.object({ fqdn: z.string() });
const Sets = z.array(
  z.object({
    rrset_name: z.string(),
    rrset_type: z.string(),
    rrset_ttl: z.number(),
    rrset_values: z.array(z.string()),
  }),
);

/** https://api.gandi.net/docs/livedns: record sets. */
export const GANDI: DnsProviderKind = {
  id: 'gandi',
  title: TITLE,
  scope: SCOPE,
  fields: [{ name: 'token', label: 'Personal access token', secret: true }],
  async open(zone, { token = '' }, tools) {
    const api = bearerApi({ title: TITLE, scope: SCOPE, base: 'https://api.gandi.net/v5/livedns', token, tools });
    return (await api.find(Domain, 'GET', `/domains/${zone}`)) && new GandiZone(zone, api);
  },
};

class GandiZone implements ZoneClient {
  readonly zone: string;
  readonly #api: ProviderApi;

  constructor(zone: string, api: ProviderApi) {
    this.zone = zone;
    this.#api = api;
  }

  async list(): Promise<ZoneEntry[]> {
    const sets = await readPages(1, async (page: number) => {
      const path = `/domains/${this.zone}/records?page=${page}&per_page=${PAGE}`;
      const items = await this.#api.call(Sets, 'GET', path);
      return { items, next: items.length < PAGE ? undefined : page + 1 };
    });
    return sets.flatMap((set) => {
      const { rrset_name: name, rrset_type: type, rrset_ttl: ttl, rrset_values: data } = set;
      return entriesOfSet({ name, type, ttl, data }, this.zone);
    });
  }

  async change(change: RecordSetChange): Promise<void> {
    const path = `/domains/${this.zone}/records/${relativeName(change.name, this.zone, '@')}/${change.type}`;
    const values = dataAfter(change);
    if (values.length === 0) return void (await this.#api.send('DELETE', path));
    const set = { rrset_values: values, rrset_ttl: Math.max(ttlOf(change), MIN_TTL) };
    await this.#api.call(z.unknown(), 'PUT', path, set);
  }
}
