import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ProviderApi } from '../provider-api.ts';
import { DnsProviderError } from '../provider-error.ts';
import type { DnsProviderKind, ZoneClient } from '../zone-client.ts';
import {
  absoluteName,
  dataOf,
  type NewEntry,
  type RecordSetChange,
  relativeName,
  ttlOf,
  readRecordData,
  type ZoneEntry,
} from '../zone-entry.ts';
import { changeById } from './by-id.ts';
import { checkHeaderCredential } from './shared.ts';

const TITLE = 'OVH';
const SCOPE = 'keys of api.ovh.com/createToken with GET, POST, PUT and DELETE on /domain/zone/DOMAIN and below';
const ENDPOINTS: Readonly<Record<string, string>> = {
  eu: 'https://eu.api.ovh.com/1.0',
  ca: 'https://ca.api.ovh.com/1.0',
  us: 'https://api.us.ovhcloud.com/1.0',
};
/** Types of its own that are served as TXT. */
const TEXTS = new Set(['SPF', 'DKIM', 'DMARC']);
/** Records that are read at one name. */
const MAX_RECORDS = 100;
const Zone = z.object({ name: z.string() });
const Ids = z.array(z.number());
const RecordAnswer = z.object({
  id: z.number(),
  subDomain: z.string().nullish(),
  fieldType: z.string(),
  target: z.string(),
  ttl: z.number().nullish(),
});

/** https://eu.api.ovh.com/console: records with ids, each read by a request of its own; signed requests. */
export const OVH: DnsProviderKind = {
  id: 'ovh',
  title: TITLE,
  scope: SCOPE,
  fields: [
    { name: 'endpoint', label: 'Region: eu, ca or us', secret: false, optional: true },
    { name: 'applicationKey', label: 'Application key', secret: true },
    { name: 'applicationSecret', label: 'Application secret', secret: true },
    { name: 'consumerKey', label: 'Consumer key', secret: true },
  ],
  async open(zone, { endpoint = 'eu', applicationKey = '', applicationSecret = '', consumerKey = '' }, tools) {
    const base = ENDPOINTS[endpoint];
    if (base === undefined) throw new DnsProviderError('rejected', 'The region must be eu, ca or us.');
    const api = new ProviderApi({
      title: TITLE,
      scope: SCOPE,
      base,
      tools,
      headers: ({ method, url, body }) => {
        const time = String(Math.floor(tools.clock() / 1000));
        const signed = [applicationSecret, consumerKey, method, url.href, body, time].join('+');
        return {
          'x-ovh-application': checkHeaderCredential(applicationKey),
          'x-ovh-consumer': checkHeaderCredential(consumerKey),
          'x-ovh-timestamp': time,
          'x-ovh-signature': `$1$${createHash('sha1').update(signed).digest('hex')}`,
        };
      },
    });
    return (await api.find(Zone, 'GET', `/domain/zone/${zone}`)) && new OvhZone(zone, api);
  },
};

class OvhZone implements ZoneClient {
  readonly zone: string;
  readonly #api: ProviderApi;

  constructor(zone: string, api: ProviderApi) {
    this.zone = zone;
    this.#api = api;
  }

  async list(names: readonly string[]): Promise<ZoneEntry[]> {
    const entries: ZoneEntry[] = [];
    for (const name of new Set(names)) {
      const label = encodeURIComponent(relativeName(name, this.zone, ''));
      const ids = await this.#api.call(Ids, 'GET', `/domain/zone/${this.zone}/record?subDomain=${label}`);
      for (const id of ids.slice(0, MAX_RECORDS)) {
        const found = await this.#api.find(RecordAnswer, 'GET', `/domain/zone/${this.zone}/record/${id}`);
        if (found !== undefined) entries.push(entryOf(found.value, this.zone));
      }
    }
    return entries;
  }

  async change(change: RecordSetChange): Promise<void> {
    const path = `/domain/zone/${this.zone}`;
    const subDomain = relativeName(change.name, this.zone, '');
    const bodyOf = (entry: NewEntry): object => ({ subDomain, target: entry.raw ?? dataOf(entry), ttl: ttlOf(change) });
    await changeById(change, {
      create: async (entry) => {
        await this.#api.call(z.unknown(), 'POST', `${path}/record`, { fieldType: entry.type, ...bodyOf(entry) });
      },
      update: async (id, entry) =>
        void (await this.#api.call(z.unknown(), 'PUT', `${path}/record/${id}`, bodyOf(entry))),
      remove: async (id) => void (await this.#api.send('DELETE', `${path}/record/${id}`)),
    });
    // Changes are served only after this.
    await this.#api.call(z.unknown(), 'POST', `${path}/refresh`, {});
  }
}

function entryOf({ id, subDomain, fieldType, target, ttl }: z.output<typeof RecordAnswer>, zone: string): ZoneEntry {
  const type = TEXTS.has(fieldType) ? 'TXT' : fieldType;
  const name = absoluteName(subDomain ?? '', zone);
  // 0: the default of the zone.
  return { id: String(id), type, name, value: readRecordData(type, target), ttl: ttl || 3600, raw: target };
}
