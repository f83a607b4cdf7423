import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lookup, Resolver } from '../../mail/dns/lookup.ts';
import type { DnsAnswer } from './dns-server.ts';

export interface SpfCase {
  description?: string;
  helo: string;
  host: string;
  mailfrom: string;
  /** The first is preferred, the others are allowed. */
  result: string[];
}

/** One name of a zone: records by type; TIMEOUT: all other queries time out. */
type Entry = 'TIMEOUT' | Record<string, string | string[] | [number, string]>;

export interface SpfScenario {
  description: string;
  tests: Record<string, SpfCase>;
  zonedata: Record<string, Entry[]>;
}

/** The OpenSPF suite for RFC 7208. */
export function spfSuite(): SpfScenario[] {
  const file = join(import.meta.dirname, '../vectors/rfc7208-tests.json');
  return JSON.parse(readFileSync(file, 'utf8')) as SpfScenario[];
}

/** Resolver of a scenario; `asked` records each query. */
export function suiteResolver({ zonedata }: SpfScenario): Resolver & { queried: string[] } {
  const zone = new Map(Object.entries(zonedata).map(([name, entries]) => [name.toLowerCase(), entries]));
  const queried: string[] = [];
  const look = <T>(type: string, name: string, read: (data: string & [number, string]) => T): Promise<Lookup<T>> => {
    queried.push(`${type} ${name}`);
    const found = records(zone, type, name.toLowerCase());
    if (found === 'TIMEOUT') return Promise.resolve({ kind: 'trouble', why: 'no answer' });
    if (found.length === 0) return Promise.resolve({ kind: 'none', nx: !zone.has(name.toLowerCase()) });
    return Promise.resolve({ kind: 'found', records: found.map((data) => read(data as string & [number, string])) });
  };
  const same = (data: string): string => data;
  const host = (data: string): string => data.toLowerCase().replace(/\.$/, '');
  return {
    queried,
    mx: (name) => look('MX', name, ([preference, exchange]) => ({ preference, exchange: host(exchange) })),
    a: (name) => look('A', name, same),
    aaaa: (name) => look('AAAA', name, same),
    // Octets of the suite are characters here: non-ASCII text is UTF-8 octets.
    txt: (name) => look('TXT', name, (data: string | string[]) => (typeof data === 'string' ? data : data.join(''))),
    ns: () => Promise.resolve({ kind: 'none', nx: false }),
    cname: (name) => look('CNAME', name, host),
    srv: () => Promise.resolve({ kind: 'none', nx: true }),
    ptr: (ip) => look('PTR', reverseName(ip), host),
  };
}

function records(zone: ReadonlyMap<string, Entry[]>, type: string, name: string, depth = 0): unknown[] | 'TIMEOUT' {
  const entries = zone.get(name) ?? [];
  const of = (kind: string): unknown[] =>
    entries.flatMap((entry) => (entry !== 'TIMEOUT' && kind in entry ? [entry[kind]] : []));
  // SPF records replace missing TXT records; NONE means there are none.
  const own = of(type);
  const found = (type === 'TXT' && own.length === 0 ? of('SPF') : own).filter((data) => data !== 'NONE');
  if (found.includes('TIMEOUT')) return 'TIMEOUT';
  if (found.length > 0) return found;
  const [alias] = of('CNAME');
  if (typeof alias === 'string' && depth < 5) return records(zone, type, alias.toLowerCase(), depth + 1);
  return entries.includes('TIMEOUT') ? 'TIMEOUT' : [];
}

function reverseName(ip: string): string {
  if (!ip.includes(':')) return `${ip.split('.').toReversed().join('.')}.in-addr.arpa`;
  const [left = '', right = ''] = ip.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const fill = Array.from({ length: 8 - groups(left).length - groups(right).length }, () => '0');
  const all = [...groups(left), ...(ip.includes('::') ? fill : []), ...groups(right)];
  const nibbles = all.map((group) => group.padStart(4, '0')).join('');
  return `${nibbles.split('').toReversed().join('.')}.ip6.arpa`;
}

const QUERIED = ['A', 'AAAA', 'MX', 'TXT', 'PTR', 'CNAME'];

/** The zone of a scenario for a name server; a query that times out is a server failure, which needs no wait. */
export function suiteZone({ zonedata }: SpfScenario): Record<string, DnsAnswer> {
  const zone = new Map(Object.entries(zonedata).map(([name, entries]) => [name.toLowerCase(), entries]));
  const text = (data: unknown): string =>
    Array.isArray(data) ? data.join(typeof data[0] === 'number' ? ' ' : '') : String(data);
  const answers: Record<string, DnsAnswer> = {};
  for (const name of zone.keys()) {
    for (const type of QUERIED) {
      const found = records(zone, type, name);
      answers[`${type} ${name}`] = found === 'TIMEOUT' ? 'SERVFAIL' : found.length === 0 ? 'NOERROR' : found.map(text);
    }
  }
  return answers;
}
