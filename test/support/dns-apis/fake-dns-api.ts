import type { ProviderRequest, ProviderResponse } from '../../../src/dns-providers/transport.ts';

/** A record of a zone, with data in zone file form. */
export interface FakeRecord {
  id: number;
  /** Full name without a trailing dot. */
  name: string;
  type: string;
  ttl: number;
  data: string;
}

/** The API of a provider with one zone that it keeps. */
export interface FakeDnsApi {
  provider: string;
  credentials: Record<string, string>;
  zone: FakeZoneState;
  answer(request: ProviderRequest): ProviderResponse;
}

export const FAKE_ZONE = 'example.net';

export class FakeZoneState {
  records: FakeRecord[] = [];
  #last = 100;

  add(name: string, type: string, ttl: number, data: string): FakeRecord {
    const record = { id: ++this.#last, name, type, ttl, data };
    this.records.push(record);
    return record;
  }

  remove(id: number): boolean {
    const before = this.records.length;
    this.records = this.records.filter((one) => one.id !== id);
    return this.records.length < before;
  }

  /** Puts a set of records in place of the one that is there. */
  replace(name: string, type: string, ttl: number, data: readonly string[]): void {
    this.records = this.records.filter((one) => one.name !== name || one.type !== type);
    for (const one of data) this.add(name, type, ttl, one);
  }

  /** Record sets, as providers with sets list them. */
  sets(): { name: string; type: string; ttl: number; data: string[] }[] {
    const sets = Map.groupBy(this.records, ({ name, type }) => `${name} ${type}`);
    return [...sets.values()].map(([first, ...more]) => ({
      name: first?.name ?? '',
      type: first?.type ?? '',
      ttl: first?.ttl ?? 0,
      data: [first?.data ?? '', ...more.map(({ data }) => data)],
    }));
  }

  /** All records as lines, without the ids that creation gives. */
  lines(): string[] {
    return this.records.map(({ name, ttl, type, data }) => `${name} ${ttl} ${type} ${data}`).toSorted();
  }
}

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): ProviderResponse => ({
  status,
  headers,
  body: body === undefined ? '' : JSON.stringify(body),
});

export const relative = (name: string, apex: string): string =>
  name === FAKE_ZONE ? apex : name.slice(0, -FAKE_ZONE.length - 1);
export const absolute = (label: string): string =>
  label === '@' || label === '' ? FAKE_ZONE : `${label}.${FAKE_ZONE}`;

/** Parts of a path behind a prefix. */
export function partsOf({ url }: ProviderRequest, prefix: string): string[] {
  return url.pathname.slice(prefix.length).split('/').filter(Boolean).map(decodeURIComponent);
}

export function pageOf<T>(
  all: readonly T[],
  { url }: ProviderRequest,
  sizeName: string,
  most: number,
): { items: T[]; page: number; pages: number } {
  const page = Number(url.searchParams.get('page') ?? 1);
  const size = Math.min(Number(url.searchParams.get(sizeName) ?? 20), most);
  return { items: all.slice((page - 1) * size, page * size), page, pages: Math.max(1, Math.ceil(all.length / size)) };
}

export function bodyOf<T>({ body }: ProviderRequest): T {
  return JSON.parse(body ?? 'null') as T;
}

/** Removes the trailing dot of the last host. */
export const undotted = (data: string): string => data.replace(/\.$/, '');
export const unquoted = (data: string): string =>
  [...data.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1')).join('');
