import { z } from 'zod';
import type { ProviderApi } from '../provider-api.ts';
import { DnsProviderError } from '../provider-error.ts';
import type { DnsProviderKind, ZoneClient } from '../zone-client.ts';
import {
  absoluteName,
  type NewEntry,
  type RecordSetChange,
  relativeName,
  ttlOf,
  readRecordData,
  type ZoneEntry,
} from '../zone-entry.ts';
import { changeById } from './by-id.ts';
import { bearerApi, readPages } from './shared.ts';

const TITLE = 'DigitalOcean';
const SCOPE = 'a personal access token with the scopes domain:read, domain:create, domain:update and domain:delete';
const PAGE = 200;
const Domain = z.object({ domain: z.object({ name: z.string() }) });
const Records = z.object({
  domain_records: z.array(
    z.object({
      id: z.number(),
      type: z.string(),
      name: z.string(),
      data: z.string(),
      priority: z.number().nullish(),
      port: z.number().nullish(),
      weight: z.number().nullish(),
      flags: z.number().nullish(),
      tag: z.string().nullish(),
      ttl: z.number(),
    }),
  ),
  links: z.object({ pages: z.object({ next: z.string().optional() }).optional() }).optional(),
});
type DomainRecord = z.output<typeof Records>['domain_records'][number];

/** https://docs.digitalocean.com/reference/api: records with ids. */
export const DIGITALOCEAN: DnsProviderKind = {
  id: 'digitalocean',
  title: TITLE,
  scope: SCOPE,
  fields: [{ name: 'token', label: 'Personal access token', secret: true }],
  async open(zone, { token = '' }, tools) {
    const api = bearerApi({ title: TITLE, scope: SCOPE, base: 'https://api.digitalocean.com/v2', token, tools });
    return (await api.find(Domain, 'GET', `/domains/${zone}`)) && new DigitalOceanZone(zone, api);
  },
};

class DigitalOceanZone implements ZoneClient {
  readonly zone: string;
  readonly #api: ProviderApi;

  constructor(zone: string, api: ProviderApi) {
    this.zone = zone;
    this.#api = api;
  }

  async list(): Promise<ZoneEntry[]> {
    const records = await readPages(1, async (page: number) => {
      const path = `/domains/${this.zone}/records?page=${page}&per_page=${PAGE}`;
      const found = await this.#api.call(Records, 'GET', path);
      return { items: found.domain_records, next: found.links?.pages?.next === undefined ? undefined : page + 1 };
    });
    return records.map((record) => ({
      id: String(record.id),
      type: record.type,
      name: absoluteName(record.name, this.zone),
      value: readRecordData(record.type, dataIn(record, this.zone)),
      ttl: record.ttl,
      raw: record.data,
    }));
  }

  async change(change: RecordSetChange): Promise<void> {
    const path = `/domains/${this.zone}/records`;
    const body = (entry: NewEntry): object => bodyOf(entry, this.zone, ttlOf(change));
    await changeById(change, {
      create: async (entry) => void (await this.#api.call(z.unknown(), 'POST', path, body(entry))),
      update: async (id, entry) => void (await this.#api.call(z.unknown(), 'PUT', `${path}/${id}`, body(entry))),
      remove: async (id) => void (await this.#api.send('DELETE', `${path}/${id}`)),
    });
  }
}

/** The zone itself is written as @. */
function dataIn({ type, data, priority, weight, port, flags, tag }: DomainRecord, zone: string): string {
  const target = data === '@' && type !== 'TXT' ? zone : data;
  switch (type) {
    case 'MX':
      return `${priority ?? 0} ${target}`;
    case 'SRV':
      return `${priority ?? 0} ${weight ?? 0} ${port ?? 0} ${target}`;
    case 'CAA':
      return `${flags ?? 0} ${tag ?? ''} "${data}"`;
    default:
      return target;
  }
}

function bodyOf({ type, name, value, raw }: NewEntry, zone: string, ttl: number): object {
  const head = { type, name: relativeName(name, zone, '@'), ttl };
  const parts = value.split(' ');
  switch (type) {
    case 'MX':
      return { ...head, priority: Number(parts[0]), data: `${parts[1] ?? ''}.` };
    case 'SRV': {
      const [priority, weight, port] = parts.map(Number);
      return { ...head, priority, weight, port, data: `${parts[3] ?? ''}.` };
    }
    case 'CAA': {
      const [, flags, tag, data] = /^(\d{1,3}) ([a-z0-9]+) "([^"]*)"$/.exec(value) ?? [];
      return { ...head, flags: Number(flags), tag, data: `${data ?? ''}.` };
    }
    case 'TLSA':
      throw new DnsProviderError('rejected', `${TITLE} has no TLSA records, and signs no zones.`);
    case 'CNAME':
      return { ...head, data: `${value}.` };
    case 'TXT':
      return { ...head, data: raw ?? value };
  }
}
