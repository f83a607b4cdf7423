import type { Lookup, Resolver } from '../../mail/dns/lookup.ts';

/** A certificate that this box should have. */
export interface WantedCertificate {
  /** The host name, or a hosted domain. */
  name: string;
  /** DNS names that point here. */
  dnsNames: readonly string[];
}

/** First labels of the names of a hosted domain: MTA-STS (RFC 8461 3.3), Thunderbird, Outlook, PACC. */
const SERVICES = ['mta-sts', 'autoconfig', 'autodiscover', 'ua-auto-config'];

/** Names of a hosted domain that this box can answer. */
export function serviceNames(domain: string): string[] {
  return SERVICES.map((label) => `${label}.${domain}`);
}

/** Pause until names are looked up again, ms: sooner where one does not point here yet. */
const RECHECK_MS = 3_600_000;
const INCOMPLETE_MS = 10 * 60_000;
/** Domains whose names are kept. */
const MAX_KEPT = 10_000;

interface KeptNames {
  until: number;
  dnsNames: readonly string[];
}

/** Finds the names of hosted domains whose addresses are this box's. */
export class PointingNames {
  readonly #resolver: Resolver;
  readonly #hostname: string;
  readonly #clock: () => number;
  readonly #kept = new Map<string, KeptNames>();

  constructor({ resolver, hostname, clock }: { resolver: Resolver; hostname: string; clock: () => number }) {
    this.#resolver = resolver;
    this.#hostname = hostname;
    this.#clock = clock;
  }

  /** Names of a domain that point here. A DNS failure keeps the names of the last lookup. */
  async of(domain: string): Promise<readonly string[]> {
    const kept = this.#kept.get(domain);
    const now = this.#clock();
    if (kept !== undefined && kept.until > now) return kept.dnsNames;
    const own = await this.#addresses(this.#hostname);
    const all = serviceNames(domain);
    const found = await Promise.all(all.map(async (name) => ({ name, at: await this.#addresses(name) })));
    const known = kept?.dnsNames ?? [];
    const dnsNames = found.flatMap(({ name, at }) =>
      at === undefined || own === undefined ? known.filter((one) => one === name) : pointsHere(at, own) ? [name] : [],
    );
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    const pause = dnsNames.length === all.length ? RECHECK_MS : INCOMPLETE_MS;
    this.#kept.set(domain, { until: now + pause, dnsNames });
    return dnsNames;
  }

  /** Addresses of a name; undefined if the DNS does not answer. */
  async #addresses(name: string): Promise<string[] | undefined> {
    const [four, six] = await Promise.all([this.#resolver.a(name), this.#resolver.aaaa(name)]);
    if (four.kind === 'trouble' || six.kind === 'trouble') return undefined;
    return [...recordsOf(four), ...recordsOf(six)];
  }
}

/** The authority may use any address, so all of them must be ours. */
function pointsHere(at: readonly string[], own: readonly string[]): boolean {
  return at.length > 0 && at.every((ip) => own.includes(ip));
}

function recordsOf(found: Lookup<string>): readonly string[] {
  return found.kind === 'found' ? found.records : [];
}
