import { z } from 'zod';
import type { ProviderApi } from '../provider-api.ts';
import type { DnsProviderKind, ZoneClient } from '../zone-client.ts';
import { type RecordSetChange, relativeName, ttlOf, type ZoneEntry } from '../zone-entry.ts';
import { bearerApi, dataAfter, entriesOfSet, readPages } from './shared.ts';

const TITLE = 'deSEC';
const SCOPE = 'a token that may change record sets of the domain (policy with "write" for it)';
const Domain = z.object({ name: z.string(), minimum_ttl: z.number() });
const Sets = z.array(
  z.object({ subname: z.string(), type: z.string(), ttl: z.number(), records: z.array(z.string()) }),
);

/** https://desec.readthedocs.io: record sets, changed in bulk as a whole. */
export const DESEC: DnsProviderKind = {
  id: 'desec',
  title: TITLE,
  scope: SCOPE,
  fields: [{ name: 'token', label: 'Token', secret: true }],
  async open(zone, { token = '' }, tools) {
    const base = 'https://desec.io/api/v1';
    const api = bearerApi({ title: TITLE, scope: SCOPE, base, token, scheme: 'Token', tools });
    const found = await api.find(Domain, 'GET', `/domains/${zone}/`);
    return found && new DesecZone(zone, api, found.value.minimum_ttl);
  },
};

class DesecZone implements ZoneClient {
  readonly zone: string;
  readonly #api: ProviderApi;
  readonly #minimumTtl: number;

  constructor(zone: string, api: ProviderApi, minimumTtl: number) {
    this.zone = zone;
    this.#api = api;
    this.#minimumTtl = minimumTtl;
  }

  async list(): Promise<ZoneEntry[]> {
    const sets = await readPages('', async (cursor: string) => {
      const path = `/domains/${this.zone}/rrsets/?cursor=${encodeURIComponent(cursor)}`;
      const found = await this.#api.find(Sets, 'GET', path);
      return { items: found?.value ?? [], next: nextCursor(found?.headers['link']) };
    });
    return sets.flatMap(({ subname, records, ...set }) => {
      return entriesOfSet({ ...set, name: subname, data: records }, this.zone);
    });
  }

  async change(change: RecordSetChange): Promise<void> {
    const subname = relativeName(change.name, this.zone, '');
    const ttl = Math.max(ttlOf(change), this.#minimumTtl);
    const set = { subname, type: change.type, ttl, records: dataAfter(change) };
    await this.#api.call(z.unknown(), 'PATCH', `/domains/${this.zone}/rrsets/`, [set]);
  }
}

/** Only the cursor is taken: a URL of the answer would get the token. */
function nextCursor(link = ''): string | undefined {
  const next = link
    .slice(0, 4000)
    .split(',')
    .find((one) => one.includes('rel="next"'));
  const [, url = ''] = next?.split(/[<>]/) ?? [];
  return URL.canParse(url) ? (new URL(url).searchParams.get('cursor') ?? undefined) : undefined;
}
