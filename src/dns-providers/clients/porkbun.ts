import { z } from 'zod';
import { ProviderApi } from '../provider-api.ts';
import { DnsProviderError } from '../provider-error.ts';
import type { ClientTools, Credentials, DnsProviderKind, ZoneClient } from '../zone-client.ts';
import {
  type NewEntry,
  normalizeZoneName,
  type RecordSetChange,
  relativeName,
  ttlOf,
  readRecordData,
  type ZoneEntry,
} from '../zone-entry.ts';
import { changeById } from './by-id.ts';
import { checkHeaderCredential } from './shared.ts';

const TITLE = 'Porkbun';
const SCOPE = 'an API key and its secret key, with "API Access" switched on for the domain';
/** Shortest TTL that is accepted. */
const MIN_TTL = 600;
const Text = z.union([z.string(), z.number()]).transform(String);
const Answer = z.object({
  status: z.string(),
  message: z.string().optional(),
  records: z
    .array(
      z.object({
        id: Text,
        name: z.string(),
        type: z.string(),
        content: z.string(),
        ttl: Text,
        prio: Text.nullish(),
      }),
    )
    .optional(),
});

/** https://porkbun.com/api/json/v3/documentation: records with ids; errors have no codes of their own. */
export const PORKBUN: DnsProviderKind = {
  id: 'porkbun',
  title: TITLE,
  scope: SCOPE,
  fields: [
    { name: 'apiKey', label: 'API key', secret: true },
    { name: 'secretKey', label: 'Secret key', secret: true },
  ],
  async open(zone, credentials, tools) {
    const client = new PorkbunZone(zone, credentials, tools);
    return (await client.isThere()) ? client : undefined;
  },
};

class PorkbunZone implements ZoneClient {
  readonly zone: string;
  readonly #api: ProviderApi;

  constructor(zone: string, { apiKey = '', secretKey = '' }: Credentials, tools: ClientTools) {
    this.zone = zone;
    const keys = { 'x-api-key': checkHeaderCredential(apiKey), 'x-secret-api-key': checkHeaderCredential(secretKey) };
    const base = 'https://api.porkbun.com/api/json/v3/dns';
    this.#api = new ProviderApi({ title: TITLE, scope: SCOPE, base, tools, headers: () => keys });
  }

  /** An unknown domain is a 400 here, like wrong keys: only its words tell. */
  async isThere(): Promise<boolean> {
    try {
      await this.#ask(`retrieve/${this.zone}`);
      return true;
    } catch (error) {
      if (error instanceof DnsProviderError && /domain/i.test(error.message) && error.failure === 'rejected')
        return false;
      throw error;
    }
  }

  async list(): Promise<ZoneEntry[]> {
    const { records = [] } = await this.#ask(`retrieve/${this.zone}`);
    return records.map(({ id, name, type, content, ttl, prio }) => {
      const data = type === 'MX' || type === 'SRV' ? `${prio ?? '0'} ${content}` : content;
      return {
        id,
        type,
        name: normalizeZoneName(name),
        value: readRecordData(type, data),
        ttl: Number(ttl),
        raw: content,
      };
    });
  }

  async change(change: RecordSetChange): Promise<void> {
    const body = (entry: NewEntry): object => bodyOf(entry, this.zone, ttlOf(change));
    await changeById(change, {
      create: async (entry) => void (await this.#ask(`create/${this.zone}`, body(entry))),
      update: async (id, entry) => void (await this.#ask(`edit/${this.zone}/${id}`, body(entry))),
      remove: async (id) => void (await this.#ask(`delete/${this.zone}/${id}`)),
    });
  }

  async #ask(path: string, body: object = {}): Promise<z.output<typeof Answer>> {
    const answer = await this.#api.call(Answer, 'POST', `/${path}`, body);
    if (answer.status === 'SUCCESS') return answer;
    throw new DnsProviderError('rejected', `${TITLE} rejected the request: ${(answer.message ?? '').slice(0, 200)}`);
  }
}

function bodyOf({ type, name, value, raw }: NewEntry, zone: string, ttl: number): object {
  const head = { type, name: relativeName(name, zone, ''), ttl: String(Math.max(ttl, MIN_TTL)) };
  const [first, ...rest] = value.split(' ');
  if (type === 'MX' || type === 'SRV') return { ...head, prio: first, content: rest.join(' ') };
  return { ...head, content: raw ?? value };
}
