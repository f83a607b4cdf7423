import { ProviderApi, type ApiOptions } from '../provider-api.ts';
import { DnsProviderError } from '../provider-error.ts';
import { absoluteName, dataOf, type RecordSetChange, readRecordData, type ZoneEntry } from '../zone-entry.ts';

/** Pages that are read of one zone. */
const MAX_PAGES = 200;

/** Creates the API of a provider whose requests carry a bearer token. */
export function bearerApi(options: Omit<ApiOptions, 'headers'> & { token: string; scheme?: string }): ProviderApi {
  const { token, scheme = 'Bearer', ...rest } = options;
  const authorization = `${scheme} ${checkHeaderCredential(token)}`;
  return new ProviderApi({ ...rest, headers: () => ({ authorization }) });
}

/** Checks a credential that becomes a header. */
export function checkHeaderCredential(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new DnsProviderError('rejected', 'The credentials have characters that no token has: copy them again.');
}

/** Reads all pages; a page returns the key of the next one, or undefined at the end. */
export async function readPages<T, Key>(
  first: Key,
  page: (key: Key) => Promise<{ items: T[]; next: Key | undefined }>,
) {
  const all: T[] = [];
  let key: Key | undefined = first;
  for (let count = 0; key !== undefined; count++) {
    if (count === MAX_PAGES) {
      throw new DnsProviderError('rejected', `The zone has more than ${MAX_PAGES} pages of records.`);
    }
    const { items, next }: { items: T[]; next: Key | undefined } = await page(key);
    all.push(...items);
    key = next;
  }
  return all;
}

/** A record set as providers with sets send it: data in zone file form. */
export interface ProviderSet {
  name: string;
  type: string;
  ttl: number;
  data: readonly string[];
}

export function entriesOfSet({ name, type, ttl, data }: ProviderSet, zone: string): ZoneEntry[] {
  const full = absoluteName(name, zone);
  return data.map((raw) => ({ type, name: full, value: readRecordData(type, raw), ttl, id: '', raw }));
}

/** The data of a record set after a change; empty: the set is deleted. Records that stay are sent back as they came. */
export function dataAfter({ keep, add }: RecordSetChange): string[] {
  return [...keep.map(({ raw }) => raw), ...add.map((entry) => entry.raw ?? dataOf(entry))];
}
