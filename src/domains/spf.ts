import ipaddr from 'ipaddr.js';
import type { Lookup, Resolver } from '../../mail/dns/lookup.ts';
import { parseDomain } from '../../mail/message/address.ts';
import { type SpfMechanism, parseSpf, spfTexts } from './spf-record.ts';

/** The sending box: its name, and the addresses of the name, as far as known. */
export interface SpfSender {
  hostname: string;
  addresses: readonly string[];
}

export interface SpfCheck {
  status: 'pass' | 'fail' | 'pending';
  detail: string;
}

/** RFC 7208 4.6.4: more lookups are a permerror. */
const MAX_LOOKUPS = 10;
/** RFC 7208 4.6.4: more void lookups are a permerror too. */
const MAX_VOID = 2;

/** `permerror`: receivers reject the record, and those that include it. */
type SpfOutcome = SpfCheck & { permerror?: true };

/**
 * Evaluates if the SPF record of a domain authorizes this box. Mechanisms with macros, `ptr` and `exists` match nothing here.
 * Never rejects. RFC 7208.
 */
export async function checkSpf(resolver: Resolver, domain: string, box: SpfSender): Promise<SpfCheck> {
  const senders = box.addresses.length === 0 ? [undefined] : box.addresses;
  const results: SpfCheck[] = [];
  for (const address of senders) {
    const walk = new SpfWalk(resolver, box.hostname, address);
    const { status, detail } = (await walk.record(domain)) ?? permerror('the record does not authorize this box');
    results.push({ status, detail });
  }
  return (
    results.find((one) => one.status === 'fail') ??
    results.find((one) => one.status === 'pending') ??
    results[0] ?? { status: 'pending', detail: '' }
  );
}

/** One evaluation for one address, with its lookup counters. */
class SpfWalk {
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

  /** Undefined: no mechanism matches this box. */
  async record(domain: string): Promise<SpfOutcome | undefined> {
    const texts = await this.#resolver.txt(domain);
    if (texts.kind === 'trouble') return unknown(texts.why);
    const [text, more] = texts.kind === 'found' ? spfTexts(texts.records) : [];
    if (text === undefined) return permerror(`${domain} has no SPF record`);
    if (more !== undefined) return permerror(`${domain} has several SPF records, only one is allowed`);
    const record = parseSpf(text);
    if ('bad' in record) return permerror(`the SPF record of ${domain} has an invalid term: ${record.bad}`);
    for (const mechanism of record.mechanisms) {
      const match = await this.#matches(mechanism, domain);
      if (match === true) return verdict(mechanism);
      if (match !== false) return match;
    }
    return record.redirect === undefined ? undefined : this.#redirect(record.redirect, domain);
  }

  async #matches({ name, value, four, six }: SpfMechanism, domain: string): Promise<boolean | SpfOutcome> {
    if (name === 'all') return true;
    if (name === 'ip4') return this.#covers(value, four);
    if (name === 'ip6') return this.#covers(value, six);
    if (++this.#lookups > MAX_LOOKUPS) return tooMany;
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

  async #host(host: string, bits: { four: number; six: number }): Promise<boolean | SpfOutcome> {
    if (host === this.#hostname) return true;
    const found = await this.#addresses(host);
    if (found === undefined) return false;
    return this.#emptyOrLate(found) ?? this.#holds(found, bits);
  }

  async #exchanges(domain: string, bits: { four: number; six: number }): Promise<boolean | SpfOutcome> {
    const found = await this.#resolver.mx(domain);
    const end = this.#emptyOrLate(found);
    if (end !== undefined || found.kind !== 'found') return end ?? false;
    if (found.records.length > MAX_LOOKUPS) return permerror(`${domain} has more than ${MAX_LOOKUPS} MX records`);
    if (found.records.some((one) => one.exchange === this.#hostname)) return true;
    for (const { exchange } of found.records) {
      const hosts = await this.#addresses(exchange);
      if (hosts?.kind === 'trouble') return unknown(hosts.why);
      if (hosts !== undefined && this.#holds(hosts, bits)) return true;
    }
    return false;
  }

  /** Addresses of the sender's family; undefined if the sender's address is unknown. */
  async #addresses(host: string): Promise<Lookup<string> | undefined> {
    if (this.#address === undefined) return undefined;
    return this.#address.includes(':') ? this.#resolver.aaaa(host) : this.#resolver.a(host);
  }

  #holds(found: Lookup<string>, { four, six }: { four: number; six: number }): boolean {
    const bits = this.#address?.includes(':') === true ? six : four;
    return found.kind === 'found' && found.records.some((one) => this.#covers(one, bits));
  }

  /** Counts a void lookup; undefined if there are records. */
  #emptyOrLate(found: Lookup<unknown>): false | SpfOutcome | undefined {
    if (found.kind === 'found') return undefined;
    if (found.kind === 'trouble') return unknown(found.why);
    return ++this.#void > MAX_VOID && permerror(`the record has more than ${MAX_VOID} names without records`);
  }

  async #include(domain: string): Promise<boolean | SpfOutcome> {
    const included = await this.record(domain);
    if (included === undefined) return false;
    return included.status === 'pending' || included.permerror === true ? included : included.status === 'pass';
  }

  async #redirect(target: string, domain: string): Promise<SpfOutcome | undefined> {
    const name = parseDomain(target);
    if (name === undefined || name === domain) return undefined;
    return ++this.#lookups > MAX_LOOKUPS ? tooMany : this.record(name);
  }

  #covers(host: string, bits: number): boolean {
    if (this.#address === undefined || !ipaddr.isValid(host)) return false;
    const mine = ipaddr.parse(this.#address);
    const other = ipaddr.parse(host);
    return other.kind() === mine.kind() && mine.match(other, bits);
  }
}

const permerror = (detail: string): SpfOutcome => ({ status: 'fail', detail, permerror: true });
const tooMany = permerror(`the record needs more than ${MAX_LOOKUPS} DNS lookups`);
const unknown = (detail: string): SpfOutcome => ({ status: 'pending', detail });

function verdict({ qualifier, text }: SpfMechanism): SpfOutcome {
  if (qualifier === '' || qualifier === '+') return { status: 'pass', detail: `${text} authorizes this box` };
  return { status: 'fail', detail: `the record has ${text} before it authorizes this box` };
}
