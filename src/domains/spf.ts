import ipaddr from 'ipaddr.js';
import type { Lookup, Resolver } from '../../mail/dns/lookup.ts';
import { parseDomain } from '../../mail/message/address.ts';
import { type Mechanism, parseSpf, spfTexts } from './spf-record.ts';

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
/** As are more that find nothing. */
const MOST_VOID = 2;

/** `permerror`: receivers give up on the record, and on those that include it. */
type Judged = SpfResult & { permerror?: true };

/**
 * Whether the SPF record of a domain lets this box send. Mechanisms with macros, `ptr` and `exists` match nothing here.
 * Never rejects. RFC 7208.
 */
export async function authorises(resolver: Resolver, domain: string, box: Sender): Promise<SpfResult> {
  const senders = box.addresses.length === 0 ? [undefined] : box.addresses;
  const results: SpfResult[] = [];
  for (const address of senders) {
    const walk = new Walk(resolver, box.hostname, address);
    const { status, detail } = (await walk.record(domain)) ?? broken('the record does not name this box');
    results.push({ status, detail });
  }
  return (
    results.find((one) => one.status === 'fail') ??
    results.find((one) => one.status === 'pending') ??
    results[0] ?? { status: 'pending', detail: '' }
  );
}

/** One evaluation for one address; counts its look-ups. */
class Walk {
  readonly #resolver: Resolver;
  readonly #hostname: string;
  readonly #address: string | undefined;
  #lookups = 0;
  #void = 0;

  constructor(resolver: Resolver, hostname: string, address: string | undefined) {
    this.#resolver = resolver;
    this.#hostname = hostname;
    this.#address = address;
  }

  /** Undefined: nothing in the record is about this box. */
  async record(domain: string): Promise<Judged | undefined> {
    const texts = await this.#resolver.txt(domain);
    if (texts.kind === 'trouble') return unknown(texts.why);
    const [text, more] = texts.kind === 'found' ? spfTexts(texts.records) : [];
    if (text === undefined) return broken(`${domain} has no SPF record`);
    if (more !== undefined) return broken(`${domain} has several SPF records: it must be one`);
    const record = parseSpf(text);
    if ('bad' in record) return broken(`the SPF record of ${domain} has a term that is wrong: ${record.bad}`);
    for (const mechanism of record.mechanisms) {
      const match = await this.#matches(mechanism, domain);
      if (match === true) return verdict(mechanism);
      if (match !== false) return match;
    }
    return record.redirect === undefined ? undefined : this.#redirect(record.redirect, domain);
  }

  async #matches({ name, value, four, six }: Mechanism, domain: string): Promise<boolean | Judged> {
    if (name === 'all') return true;
    if (name === 'ip4') return this.#covers(value, four);
    if (name === 'ip6') return this.#covers(value, six);
    if (++this.#lookups > MOST_LOOKUPS) return tooMany;
    const target = value === '' ? domain : parseDomain(value);
    if (target === undefined || target.startsWith('[')) return false;
    switch (name) {
      case 'a':
        return this.#host(target, { four, six });
      case 'mx':
        return this.#exchanges(target, { four, six });
      case 'include':
        return this.#include(target);
      case 'exists':
      case 'ptr':
        return false;
    }
  }

  async #host(host: string, bits: { four: number; six: number }): Promise<boolean | Judged> {
    if (host === this.#hostname) return true;
    const found = await this.#addresses(host);
    if (found === undefined) return false;
    return this.#emptyOrLate(found) ?? this.#holds(found, bits);
  }

  async #exchanges(domain: string, bits: { four: number; six: number }): Promise<boolean | Judged> {
    const found = await this.#resolver.mx(domain);
    const end = this.#emptyOrLate(found);
    if (end !== undefined || found.kind !== 'found') return end ?? false;
    if (found.records.length > MOST_LOOKUPS) return broken(`${domain} has more than ${MOST_LOOKUPS} MX records`);
    if (found.records.some((one) => one.exchange === this.#hostname)) return true;
    for (const { exchange } of found.records) {
      const hosts = await this.#addresses(exchange);
      if (hosts?.kind === 'trouble') return unknown(hosts.why);
      if (hosts !== undefined && this.#holds(hosts, bits)) return true;
    }
    return false;
  }

  /** Of the family of the sender's address; undefined when that is not known. */
  async #addresses(host: string): Promise<Lookup<string> | undefined> {
    if (this.#address === undefined) return undefined;
    return this.#address.includes(':') ? this.#resolver.aaaa(host) : this.#resolver.a(host);
  }

  #holds(found: Lookup<string>, { four, six }: { four: number; six: number }): boolean {
    const bits = this.#address?.includes(':') === true ? six : four;
    return found.kind === 'found' && found.records.some((one) => this.#covers(one, bits));
  }

  /** What an answer without records comes to; undefined when there are some. */
  #emptyOrLate(found: Lookup<unknown>): false | Judged | undefined {
    if (found.kind === 'found') return undefined;
    if (found.kind === 'trouble') return unknown(found.why);
    return ++this.#void > MOST_VOID && broken(`the record has more than ${MOST_VOID} names that lead nowhere`);
  }

  async #include(domain: string): Promise<boolean | Judged> {
    const judged = await this.record(domain);
    if (judged === undefined) return false;
    return judged.status === 'pending' || judged.permerror === true ? judged : judged.status === 'pass';
  }

  async #redirect(target: string, domain: string): Promise<Judged | undefined> {
    const name = parseDomain(target);
    if (name === undefined || name === domain) return undefined;
    return ++this.#lookups > MOST_LOOKUPS ? tooMany : this.record(name);
  }

  #covers(host: string, bits: number): boolean {
    if (this.#address === undefined || !ipaddr.isValid(host)) return false;
    const mine = ipaddr.parse(this.#address);
    const other = ipaddr.parse(host);
    return other.kind() === mine.kind() && mine.match(other, bits);
  }
}

const broken = (detail: string): Judged => ({ status: 'fail', detail, permerror: true });
const tooMany = broken(`the record needs more than ${MOST_LOOKUPS} look-ups`);
const unknown = (detail: string): Judged => ({ status: 'pending', detail });

function verdict({ qualifier, text }: Mechanism): Judged {
  if (qualifier === '' || qualifier === '+') return { status: 'pass', detail: `${text} names this box` };
  return { status: 'fail', detail: `the record says ${text} before it names this box` };
}
