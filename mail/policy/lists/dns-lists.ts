import type { Resolver } from '../../dns/lookup.ts';
import { findPublicResolver } from '../../dns/public-resolver.ts';
import { isPublicAddress } from '../../dns/public-address.ts';
import type { Log } from '../../log.ts';
import { linkHosts, isAddressLiteral } from '../checks/hosts.ts';
import { type Finding, sanitizeWord } from '../finding.ts';
import { domainOf, registrableDomain } from '../registrable.ts';
import type { Sample } from '../sample.ts';
import { addressLabels, type DnsList, interpretListing } from './dns-list.ts';
import { ADDRESS_TEST_ENTRIES, hostTestEntries, ListHealth, type ListState } from './list-health.ts';

export interface DnsListsOptions {
  resolver: Pick<Resolver, 'a'>;
  /** Servers of the resolver in the notation of Node, to warn about public ones. */
  servers?: readonly string[];
  /** Lists of client addresses. */
  addresses: readonly DnsList[];
  /** Lists of domains. */
  hosts: readonly DnsList[];
  log: Log;
  /** Monotonic clock, ms. */
  monotonic: () => number;
  /** Time for all lists together, ms; later answers are ignored. */
  timeoutMs?: number;
}

/** Parts of a message that are looked up; available before authentication. */
export type DnsListSample = Pick<Sample, 'links' | 'author' | 'sender'> & { peer: Pick<Sample['peer'], 'ip'> };

interface MonitoredList extends DnsList {
  kind: 'address' | 'host';
  health: ListHealth;
}

const TIMEOUT_MS = 3000;
/** Domains of one message that are looked up. */
const MAX_DOMAINS = 10;
const MAX_NAME = 253;
/** Special-use names, RFC 6761, and home networks. */
const NOT_PUBLIC = /(?:^|\.)(?:test|example|invalid|localhost|local|internal|lan|home\.arpa|onion)$/;

/** Lookups in DNS lists of addresses and hosts. RFC 5782. Mail from private addresses is not looked up. */
export class DnsLists {
  readonly #options: DnsListsOptions;
  readonly #lists: readonly MonitoredList[];
  readonly #refusal: string;
  #hasWarned = false;

  constructor(options: DnsListsOptions) {
    this.#options = options;
    this.#refusal = describeRefusal(options.servers ?? []);
    this.#lists = [
      ...options.addresses.map((list) => this.#monitor(list, 'address')),
      ...options.hosts.map((list) => this.#monitor(list, 'host')),
    ];
  }

  /** Looks a message up in all lists. Errors are ignored; never rejects. */
  async findings(sample: DnsListSample): Promise<Finding[]> {
    if (this.#lists.length === 0 || !isPublicAddress(sample.peer.ip)) return [];
    this.#warnPublicResolver();
    const found: Finding[] = [];
    const labels = addressLabels(sample.peer.ip) ?? '';
    const domains = mentionedDomains(sample);
    const lookups = this.#lists.map(async (list) => {
      const queries = list.kind === 'address' ? [{ labels, shown: sample.peer.ip }] : domains;
      const finding = await this.#lookUp(list, queries);
      if (finding !== undefined) found.push(finding);
    });
    await waitAtMost(Promise.all(lookups), this.#options.timeoutMs ?? TIMEOUT_MS);
    return [...found];
  }

  /** State of each list. */
  states(): (ListState & Pick<MonitoredList, 'zone' | 'kind'>)[] {
    return this.#lists.map(({ zone, kind, health }) => ({ zone, kind, ...health.state }));
  }

  /** Warns once, and only if lists are used. */
  #warnPublicResolver(): void {
    const { servers = [], log } = this.#options;
    const shared = this.#hasWarned ? undefined : findPublicResolver(servers);
    this.#hasWarned = true;
    if (shared !== undefined)
      log.warn(shared, 'DNS lists are queried through a public resolver, which most lists refuse');
  }

  #monitor(list: DnsList, kind: MonitoredList['kind']): MonitoredList {
    const { resolver, log, monotonic } = this.#options;
    const { zone } = list;
    const testEntries = kind === 'address' ? ADDRESS_TEST_ENTRIES : hostTestEntries(zone);
    const ask = async (labels: string) => interpretListing(await resolver.a(`${labels}.${zone}`));
    return {
      ...list,
      kind,
      health: new ListHealth({ zone, testEntries, ask, monotonic, log, refusal: this.#refusal }),
    };
  }

  async #lookUp(list: MonitoredList, queries: readonly ListQuery[]): Promise<Finding | undefined> {
    const valid = queries.filter(({ labels }) => `${labels}.${list.zone}`.length <= MAX_NAME);
    if (valid.length === 0 || !(await list.health.isUsable())) return undefined;
    const answers = await Promise.all(
      valid.map(async (one) => ({
        ...one,
        listing: interpretListing(await this.#options.resolver.a(`${one.labels}.${list.zone}`)),
      })),
    );
    if (answers.some(({ listing }) => listing.kind === 'refused')) {
      list.health.suspend(this.#refusal);
      return undefined;
    }
    const listed = answers.find(({ listing }) => listing.kind === 'listed');
    // Checked again before a rejection: the list may have just started to list everything.
    if (listed === undefined || (list.refuse && !(await list.health.isUsable(true)))) return undefined;
    return toFinding(list, listed.shown);
  }
}

function describeRefusal(servers: readonly string[]): string {
  const shared = findPublicResolver(servers);
  const refusal = 'refuses queries from this resolver';
  return shared === undefined ? refusal : `${refusal}: ${shared.server} of ${shared.owner} is a public resolver`;
}

interface ListQuery {
  labels: string;
  shown: string;
}

function toFinding({ kind, zone, score, refuse }: MonitoredList, shown: string): Finding {
  const what =
    kind === 'address' ? `the sending address ${shown}` : `${sanitizeWord(shown)}, which the message mentions`;
  return {
    rule: kind === 'address' ? 'address-list' : 'host-list',
    score,
    why: `The list ${zone} contains ${what}`,
    ...(score > 0 && { flag: 'blocklisted' }),
    ...(refuse && { refuse }),
  };
}

/** Lists the registrable domains of links, author and envelope sender. */
function mentionedDomains({ links, author, sender }: DnsListSample): ListQuery[] {
  const hosts = [
    domainOf(author),
    domainOf(sender),
    ...linkHosts(links, 200).filter((host) => !isAddressLiteral(host)),
  ];
  const names = new Set(hosts.map(registrableDomain).filter((name) => /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/.test(name)));
  return [...names]
    .filter((name) => !NOT_PUBLIC.test(name))
    .slice(0, MAX_DOMAINS)
    .map((name) => ({ labels: name, shown: name }));
}

async function waitAtMost(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
