import ipaddr from 'ipaddr.js';
import type { Lookup, Resolver } from '../../mail/dns/lookup.ts';
import { parseDomain } from '../../mail/message/address.ts';

/** Who sends: this box by its name and by the addresses of the name, as far as they are known. */
export interface Sender {
  hostname: string;
  addresses: readonly string[];
}

export interface SpfResult {
  status: 'pass' | 'fail' | 'pending';
  detail: string;
}

/** RFC 7208 4.6.4: more look-ups than this are an error for every receiver. */
const MOST_LOOKUPS = 10;

type Match = 'match' | 'no-match' | { broken: string } | { trouble: string };
type Judged = SpfResult | 'no-match';

/**
 * Whether the SPF record of a domain lets this box send. Mechanisms with macros, `ptr` and `exists` match nothing here.
 * Never rejects. RFC 7208.
 */
export async function authorises(resolver: Resolver, domain: string, box: Sender): Promise<SpfResult> {
  const senders = box.addresses.length === 0 ? [undefined] : box.addresses;
  const results: SpfResult[] = [];
  for (const address of senders) {
    const walk = new Walk(resolver, box.hostname, address);
    const judged = await walk.record(domain);
    results.push(judged === 'no-match' ? { status: 'fail', detail: 'the record does not name this box' } : judged);
  }
  return (
    results.find((one) => one.status === 'fail') ??
    results.find((one) => one.status === 'pending') ??
    results[0] ?? { status: 'pending', detail: '' }
  );
}

/** The text of the SPF records among TXT records. RFC 7208 4.5. */
export function spfTexts(texts: readonly string[]): string[] {
  return texts.filter((text) => /^v=spf1(?: |$)/i.test(text));
}

/** One evaluation for one address; counts its look-ups. */
class Walk {
  readonly #resolver: Resolver;
  readonly #hostname: string;
  readonly #address: string | undefined;
  #lookups = 0;

  constructor(resolver: Resolver, hostname: string, address: string | undefined) {
    this.#resolver = resolver;
    this.#hostname = hostname;
    this.#address = address;
  }

  async record(domain: string): Promise<Judged> {
    const texts = await this.#resolver.txt(domain);
    if (texts.kind === 'trouble') return { status: 'pending', detail: texts.why };
    const found = texts.kind === 'found' ? spfTexts(texts.records) : [];
    const [text, more] = found;
    if (text === undefined) return { status: 'fail', detail: `${domain} has no SPF record` };
    if (more !== undefined) return { status: 'fail', detail: `${domain} has several SPF records: it must be one` };
    const terms = text.split(/ +/).slice(1);
    for (const term of terms) {
      const judged = await this.#term(term, domain);
      if (judged !== 'no-match') return judged;
    }
    return this.#redirect(terms, domain);
  }

  async #term(term: string, domain: string): Promise<Judged> {
    const read = /^([+\-~?]?)([a-z0-9]+)(?::([^/]*))?((?:\/\/?\d{1,3})*)$/i.exec(term);
    if (read === null) return 'no-match';
    const [, qualifier = '', mechanism = '', value = '', prefix = ''] = read;
    const match = await this.#mechanism(mechanism.toLowerCase(), value, prefix, domain, term);
    if (match === 'no-match') return 'no-match';
    if (match === 'match') return verdict(qualifier, term);
    if ('trouble' in match) return { status: 'pending', detail: match.trouble };
    return { status: 'fail', detail: match.broken };
  }

  async #mechanism(name: string, value: string, prefix: string, domain: string, term: string): Promise<Match> {
    if (name === 'all') return 'match';
    if (name === 'ip4' || name === 'ip6') return this.#covers(term.slice(term.indexOf(':') + 1)) ? 'match' : 'no-match';
    if (!['a', 'mx', 'include', 'exists', 'ptr'].includes(name)) return 'no-match';
    if (++this.#lookups > MOST_LOOKUPS) return { broken: `the record needs more than ${MOST_LOOKUPS} look-ups` };
    const target = value === '' ? domain : parseDomain(value);
    if (target === undefined || target.startsWith('[')) return 'no-match';
    switch (name) {
      case 'a':
        return this.#host(target, prefix);
      case 'mx':
        return this.#exchanges(target, prefix);
      case 'include':
        return this.#include(target);
      default:
        return 'no-match';
    }
  }

  async #host(host: string, prefix: string): Promise<Match> {
    if (host === this.#hostname) return 'match';
    const address = this.#address;
    if (address === undefined) return 'no-match';
    const v6 = address.includes(':');
    const found: Lookup<string> = await (v6 ? this.#resolver.aaaa(host) : this.#resolver.a(host));
    if (found.kind === 'trouble') return { trouble: found.why };
    const [, four = '32', six = '128'] = /^(?:\/(\d+))?(?:\/\/(\d+))?$/.exec(prefix) ?? [];
    const hosts = found.kind === 'found' ? found.records : [];
    return hosts.some((one) => this.#covers(`${one}/${v6 ? six : four}`)) ? 'match' : 'no-match';
  }

  async #exchanges(domain: string, prefix: string): Promise<Match> {
    const found = await this.#resolver.mx(domain);
    if (found.kind === 'trouble') return { trouble: found.why };
    if (found.kind === 'none') return 'no-match';
    if (found.records.some((one) => one.exchange === this.#hostname)) return 'match';
    for (const { exchange } of found.records.slice(0, MOST_LOOKUPS)) {
      const match = await this.#host(exchange, prefix);
      if (match !== 'no-match') return match;
    }
    return 'no-match';
  }

  async #include(domain: string): Promise<Match> {
    const judged = await this.record(domain);
    if (judged === 'no-match') return 'no-match';
    if (judged.status === 'pending') return { trouble: judged.detail };
    if (judged.status === 'pass') return 'match';
    return judged.detail.includes('look-ups') ? { broken: judged.detail } : 'no-match';
  }

  async #redirect(terms: readonly string[], domain: string): Promise<Judged> {
    const target = terms.map((term) => /^redirect=(.+)$/i.exec(term)?.[1]).find((one) => one !== undefined);
    const name = target === undefined ? undefined : parseDomain(target);
    if (name === undefined || name === domain) return 'no-match';
    if (++this.#lookups > MOST_LOOKUPS) {
      return { status: 'fail', detail: `the record needs more than ${MOST_LOOKUPS} look-ups` };
    }
    return this.record(name);
  }

  #covers(network: string): boolean {
    if (this.#address === undefined) return false;
    const mine = ipaddr.parse(this.#address);
    const [host = '', bits] = network.split('/');
    if (!ipaddr.isValid(host)) return false;
    const other = ipaddr.parse(host);
    const width = Number(bits ?? (other.kind() === 'ipv4' ? 32 : 128));
    if (other.kind() !== mine.kind() || !(width >= 0 && width <= (other.kind() === 'ipv4' ? 32 : 128))) return false;
    return mine.match(other, width);
  }
}

function verdict(qualifier: string, term: string): SpfResult {
  if (qualifier === '' || qualifier === '+') return { status: 'pass', detail: `${term} names this box` };
  return { status: 'fail', detail: `the record says ${term} before it names this box` };
}
