import type { Resolver } from '../../dns/lookup.ts';
import { publicResolver } from '../../dns/public-resolver.ts';
import { isPublicAddress } from '../../dns/public-address.ts';
import type { Log } from '../../log.ts';
import { hostsOf, isLiteral } from '../checks/hosts.ts';
import { type Finding, plainWord } from '../finding.ts';
import { domainOf, registrable } from '../registrable.ts';
import type { Sample } from '../sample.ts';
import { addressLabels, type DnsList, listingOf } from './dns-list.ts';
import { ADDRESS_STONES, hostStones, ListHealth, type ListState } from './list-health.ts';

export interface DnsListsOptions {
  resolver: Pick<Resolver, 'a'>;
  /** Which servers that asks, as Node writes them, so that public ones among them are told of. */
  servers?: readonly string[];
  /** Asked for the address that brought a message. */
  addresses: readonly DnsList[];
  /** Asked for the domains that it names. */
  hosts: readonly DnsList[];
  log: Log;
  /** Milliseconds that never jump. */
  monotonic: () => number;
  /** For all lists together, ms: what has not answered by then does not count. */
  timeoutMs?: number;
}

/** What of a message is looked for: nothing that takes a question to prove. */
export type Listable = Pick<Sample, 'links' | 'author' | 'sender'> & { peer: Pick<Sample['peer'], 'ip'> };

interface Watched extends DnsList {
  kind: 'address' | 'host';
  health: ListHealth;
}

const TIMEOUT_MS = 3000;
/** Domains of one message that are asked for. */
const MOST_DOMAINS = 10;
const LONGEST_NAME = 253;
/** RFC 6761: names that nobody registered, and home networks. */
const NOT_PUBLIC = /(?:^|\.)(?:test|example|invalid|localhost|local|internal|lan|home\.arpa|onion)$/;

/** Lists of addresses and of hosts that others keep. RFC 5782. Mail from addresses that are not public is asked about nowhere. */
export class DnsLists {
  readonly #options: DnsListsOptions;
  readonly #lists: readonly Watched[];
  readonly #refusal: string;
  #isTold = false;

  constructor(options: DnsListsOptions) {
    this.#options = options;
    this.#refusal = refusalBy(options.servers ?? []);
    this.#lists = [
      ...options.addresses.map((list) => this.#watched(list, 'address')),
      ...options.hosts.map((list) => this.#watched(list, 'host')),
    ];
  }

  /** What the lists say of a message. Trouble of any kind says nothing; never rejects. */
  async findings(sample: Listable): Promise<Finding[]> {
    if (this.#lists.length === 0 || !isPublicAddress(sample.peer.ip)) return [];
    this.#tell();
    const found: Finding[] = [];
    const labels = addressLabels(sample.peer.ip) ?? '';
    const domains = domainsOf(sample);
    const asked = this.#lists.map(async (list) => {
      const about = list.kind === 'address' ? [{ labels, shown: sample.peer.ip }] : domains;
      const finding = await this.#look(list, about);
      if (finding !== undefined) found.push(finding);
    });
    await inTime(Promise.all(asked), this.#options.timeoutMs ?? TIMEOUT_MS);
    return [...found];
  }

  /** How each list is doing. */
  states(): (ListState & Pick<Watched, 'zone' | 'kind'>)[] {
    return this.#lists.map(({ zone, kind, health }) => ({ zone, kind, ...health.state }));
  }

  /** Once, and only where somebody is asked. */
  #tell(): void {
    const { servers = [], log } = this.#options;
    const shared = this.#isTold ? undefined : publicResolver(servers);
    this.#isTold = true;
    if (shared !== undefined) log.warn(shared, 'DNS lists are asked by a public resolver, which most do not serve');
  }

  #watched(list: DnsList, kind: Watched['kind']): Watched {
    const { resolver, log, monotonic } = this.#options;
    const { zone } = list;
    const stones = kind === 'address' ? ADDRESS_STONES : hostStones(zone);
    const ask = async (labels: string) => listingOf(await resolver.a(`${labels}.${zone}`));
    return { ...list, kind, health: new ListHealth({ zone, stones, ask, monotonic, log, refusal: this.#refusal }) };
  }

  async #look(list: Watched, about: readonly Asked[]): Promise<Finding | undefined> {
    const askable = about.filter(({ labels }) => `${labels}.${list.zone}`.length <= LONGEST_NAME);
    if (askable.length === 0 || !(await list.health.isGood())) return undefined;
    const answers = await Promise.all(
      askable.map(async (one) => ({
        ...one,
        listing: listingOf(await this.#options.resolver.a(`${one.labels}.${list.zone}`)),
      })),
    );
    if (answers.some(({ listing }) => listing.kind === 'refused')) {
      list.health.rest(this.#refusal);
      return undefined;
    }
    const listed = answers.find(({ listing }) => listing.kind === 'listed');
    // A list that has just begun to list the world must not cost a message.
    if (listed === undefined || (list.refuse && !(await list.health.isGood(true)))) return undefined;
    return toFinding(list, listed.shown);
  }
}

function refusalBy(servers: readonly string[]): string {
  const shared = publicResolver(servers);
  const refusal = 'refuses to answer this resolver';
  return shared === undefined ? refusal : `${refusal}: ${shared.server} of ${shared.owner} asks for everybody`;
}

interface Asked {
  labels: string;
  shown: string;
}

function toFinding({ kind, zone, score, refuse }: Watched, shown: string): Finding {
  const what = kind === 'address' ? `${shown}, the address that brought it` : `${plainWord(shown)}, which it names`;
  return {
    rule: kind === 'address' ? 'address-list' : 'host-list',
    score,
    why: `The list ${zone} has ${what}`,
    ...(score > 0 && { flag: 'blocklisted' }),
    ...(refuse && { refuse }),
  };
}

/** The domains of links, of the author and of the envelope, each as somebody registered it. */
function domainsOf({ links, author, sender }: Listable): Asked[] {
  const hosts = [domainOf(author), domainOf(sender), ...hostsOf(links, 200).filter((host) => !isLiteral(host))];
  const names = new Set(hosts.map(registrable).filter((name) => /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/.test(name)));
  return [...names]
    .filter((name) => !NOT_PUBLIC.test(name))
    .slice(0, MOST_DOMAINS)
    .map((name) => ({ labels: name, shown: name }));
}

async function inTime(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
