import { z } from 'zod';
import type { ProviderApi } from '../provider-api.ts';
import type { DnsProviderKind, ZoneClient } from '../zone-client.ts';
import {
  dataOf,
  type NewEntry,
  normalizeZoneName,
  type RecordSetChange,
  ttlOf,
  readRecordData,
  type ZoneEntry,
} from '../zone-entry.ts';
import { bearerApi, readPages } from './shared.ts';

const TITLE = 'Cloudflare';
const SCOPE = 'an API token with Zone.Zone:Read and Zone.DNS:Edit for the zone';
const PAGE = 500;
const Zones = z.object({ result: z.array(z.object({ id: z.string(), name: z.string() })) });
const Records = z.object({
  result: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      type: z.string(),
      content: z.string(),
      ttl: z.number(),
      priority: z.number().optional(),
    }),
  ),
  result_info: z.object({ total_pages: z.number() }),
});
/** TTL "automatic". */
const AUTOMATIC = 1;
/** Mark of our records, for people who look at the zone. */
const COMMENT = 'Written by Mailstead';

/** https://developers.cloudflare.com/api: records with ids, changed in one batch as a whole. */
export const CLOUDFLARE: DnsProviderKind = {
  id: 'cloudflare',
  title: TITLE,
  scope: SCOPE,
  fields: [{ name: 'token', label: 'API token', secret: true }],
  async open(zone, { token = '' }, tools) {
    const api = bearerApi({ title: TITLE, scope: SCOPE, base: 'https://api.cloudflare.com/client/v4', token, tools });
    const found = await api.find(Zones, 'GET', `/zones?name=${encodeURIComponent(zone)}`);
    const id = found?.value.result.find(({ name }) => normalizeZoneName(name) === zone)?.id;
    return id === undefined ? undefined : new CloudflareZone(zone, api, `/zones/${encodeURIComponent(id)}/dns_records`);
  },
};

class CloudflareZone implements ZoneClient {
  readonly zone: string;
  readonly #api: ProviderApi;
  readonly #path: string;

  constructor(zone: string, api: ProviderApi, path: string) {
    this.zone = zone;
    this.#api = api;
    this.#path = path;
  }

  async list(): Promise<ZoneEntry[]> {
    const records = await readPages(1, async (page: number) => {
      const path = `${this.#path}?page=${page}&per_page=${PAGE}`;
      const { result, result_info: info } = await this.#api.call(Records, 'GET', path);
      return { items: result, next: page < info.total_pages ? page + 1 : undefined };
    });
    return records.map(({ id, name, type, content, ttl, priority }) => {
      const data = type === 'MX' || type === 'SRV' ? `${priority ?? 0} ${content}` : content;
      const value = readRecordData(type, data);
      return { id, name: normalizeZoneName(name), type, value, ttl: ttl === AUTOMATIC ? 300 : ttl, raw: content };
    });
  }

  async change(change: RecordSetChange): Promise<void> {
    const deletes = change.remove.map(({ id }) => ({ id }));
    const posts = change.add.map((entry) => bodyOf(entry, ttlOf(change)));
    await this.#api.call(z.unknown(), 'POST', `${this.#path}/batch`, { deletes, posts });
  }
}

function bodyOf(entry: NewEntry, ttl: number): object {
  const { type, name, value } = entry;
  const head = { type, name, ttl, comment: COMMENT };
  const parts = value.split(' ');
  switch (type) {
    case 'MX':
      return { ...head, priority: Number(parts[0]), content: parts[1] };
    case 'SRV': {
      const [priority, weight, port] = parts.map(Number);
      return { ...head, data: { priority, weight, port, target: parts[3] } };
    }
    case 'CAA': {
      const [, flags, tag, text] = /^(\d{1,3}) ([a-z0-9]+) "([^"]*)"$/.exec(value) ?? [];
      return { ...head, data: { flags: Number(flags), tag, value: text } };
    }
    case 'TLSA': {
      const [usage, selector, matching] = parts.map(Number);
      return { ...head, data: { usage, selector, matching_type: matching, certificate: parts[3] } };
    }
    case 'CNAME':
      return { ...head, content: value, proxied: false };
    case 'TXT':
      return { ...head, content: entry.raw ?? dataOf(entry) };
  }
}
