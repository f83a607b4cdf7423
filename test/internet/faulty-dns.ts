import { type DnsAnswer, type DnsServer, dnsServer } from '../support/dns-server.ts';
import { type FakeRecord, unquoted } from '../support/dns-apis/fake-dns-api.ts';
import { AT, reverseName } from '../support/network-namespace.ts';

export const ZONE = 'example.net';
export const HOST = `mail.${ZONE}`;
export const ADDRESS_LISTS = ['psbl.surriel.com', 'bl.spamcop.net'] as const;
export const DOMAIN_LIST = 'dbl.lists.test';
export const FAR = 'mx.far.test';
export const SMARTHOST = 'smart.far.test';

/** Where the servers of this internet are, beside those of every small internet. */
export const SERVERS = {
  authority: '44.0.0.4',
  scanner: '44.0.0.5',
  smarthost: '44.0.0.6',
  nobody: '44.0.0.7',
} as const;

/** Names of others, the reverse names, and the test entries of the lists (RFC 5782 5). */
const OTHERS: Record<string, DnsAnswer> = {
  'NS com': ['a.gtld-servers.net'],
  'A acme.test': [SERVERS.authority],
  'A api.cloudflare.com': [AT.provider],
  'MX far.test': [`10 ${FAR}`],
  [`A ${FAR}`]: [AT.dane],
  [`A ${SMARTHOST}`]: [SERVERS.smarthost],
  'MX remote.example': ['10 remote.example'],
  'A remote.example': ['127.0.0.1'],
  'TXT remote.example': ['v=spf1 ip4:127.0.0.1 -all'],
  'TXT far.test': [`v=spf1 ip4:${AT.dane} -all`],
  [`PTR ${reverseName(AT.box)}`]: [HOST],
  [`PTR ${reverseName(AT.box6)}`]: [HOST],
  ...Object.fromEntries(ADDRESS_LISTS.map((list) => [`A 2.0.0.127.${list}`, ['127.0.0.2']])),
  [`A test.${DOMAIN_LIST}`]: ['127.0.0.2'],
  // They lead to the box before its domain is added: names that do not are looked up again after ten minutes.
  ...Object.fromEntries(['mta-sts', 'autoconfig'].map((label) => [`A ${label}.${ZONE}`, [AT.box]])),
};

/** The resolver of the box. The records of its domain are those that the provider has; faults change any of them. */
export class FaultyDns implements AsyncDisposable {
  readonly #published: () => readonly FakeRecord[];
  #changes: Record<string, DnsAnswer | undefined> = {};
  #server: DnsServer | undefined;

  constructor(published: () => readonly FakeRecord[]) {
    this.#published = published;
  }

  async start(): Promise<void> {
    this.#server = await dnsServer({}, { host: AT.resolver, port: 53 });
    this.update();
  }

  async stop(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = undefined;
  }

  /** Answers from now on as given; undefined: the name has no such record. */
  change(changes: Record<string, DnsAnswer | undefined>): void {
    this.#changes = changes;
    this.update();
  }

  /** Answers every question with this. */
  always(answer: DnsAnswer): void {
    if (this.#server !== undefined) this.#server.zone = new Proxy({}, { get: () => answer });
  }

  /** Takes over what the provider has now. */
  update(): void {
    if (this.#server === undefined) return;
    const all = Object.entries({ ...OTHERS, ...zoneOf(this.#published()), ...this.#changes });
    this.#server.zone = Object.fromEntries(
      all.flatMap(([key, answer]) => (answer === undefined ? [] : [[key, answer]])),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** All aliases of the domain lead to the box. */
function zoneOf(records: readonly FakeRecord[]): Record<string, DnsAnswer> {
  const zone: Record<string, string[]> = {};
  for (const { name, type, data } of records) {
    if (type === 'CNAME') {
      zone[`A ${name}`] = [`CNAME ${HOST}`, AT.box];
      zone[`AAAA ${name}`] = [`CNAME ${HOST}`, AT.box6];
    } else if (type !== 'SRV' && type !== 'CAA') {
      (zone[`${type} ${name}`] ??= []).push(type === 'TXT' ? unquoted(data) : data);
    }
  }
  return zone;
}
