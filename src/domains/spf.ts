import ipaddr from 'ipaddr.js';
import type { Lookup, Resolver } from '../../mail/dns/lookup.ts';
import { parseDomain } from '../../mail/message/address.ts';
import { type SpfMechanism, parseSpf, spfTexts } from './spf-record.ts';

export interface SpfCheck {
  status: 'pass' | 'fail' | 'pending';
  detail: string;
}

/** RFC 7208 4.6.4: more lookups are a permerror. */
export const MAX_SPF_LOOKUPS = 10;
/** RFC 7208 4.6.4: more void lookups are a permerror too. */
export const MAX_SPF_VOID = 2;

/** `permerror`: receivers reject the record, and those that include it. */
type SpfOutcome = SpfCheck & { permerror?: true };

/**
 * Evaluates if the SPF record of a domain authorizes all of these addresses. Mechanisms with macros, `ptr` and `exists` match
 * nothing here. Never rejects. RFC 7208.
 */
export async function checkSpfRecord(
  resolver: Resolver,
  domain: string,
  addresses: readonly string[],
): Promise<SpfCheck> {
  const results: SpfCheck[] = [];
  for (const address of addresses) {
    const walk = new SpfWalk(resolver, address);
    const { status, detail } = (await walk.record(domain)) ?? permerror(`the record does not authorize ${address}`);
    results.push({ status, detail });
  }
  return (
    results.find((one) => one.status === 'fail') ??
    results.find((one) => one.status === 'pending') ??
    results[0] ?? { status: 'pending', detail: '' }
  );
}

/** Tests if a domain has one SPF record that receivers can evaluate, whomever it authorizes. Never rejects. */
export async function checkSpfSyntax(resolver: Resolver, domain: string): Promise<SpfCheck> {
  const end = await new SpfWalk(resolver, NOBODY).record(domain);
  if (end?.permerror === true || end?.status === 'pending') return { status: end.status, detail: end.detail };
  const detail = 'mail leaves through the smarthost, whose addresses are unknown: check that the record authorizes it';
  return { status: 'pass', detail };
}

/** Lookups of one evaluation. */
export interface SpfCost {
  /** Mechanisms and modifiers that need a lookup, through all includes; counting ends above {@link MAX_SPF_LOOKUPS}. */
  lookups: number;
  /** Names without records; counting ends above {@link MAX_SPF_VOID}. */
  void: number;
  /** Reason why receivers reject the record. */
  problem?: string;
  /** Lookup that got no answer: the count is not complete. */
  pending?: string;
}

/** An address that is no sender's (RFC 1112 4): the evaluation goes through the whole record. */
const NOBODY = '240.0.0.1';

/** Counts the lookups that a record needs for a sender that no mechanism matches. Never rejects. RFC 7208 4.6.4. */
export async function measureSpf(resolver: Resolver, domain: string, text: string): Promise<SpfCost> {
  const walk = new SpfWalk(resolver, NOBODY);
  const end = await walk.text(text, domain);
  return {
    ...walk.counts,
    ...(end?.permerror === true && { problem: end.detail }),
    ...(end?.status === 'pending' && { pending: end.detail }),
  };
}

/** One evaluation for one address, with its lookup counters. */
class SpfWalk {
  readonly #resolver: Resolver;
  readonly #address: string;
  #lookups = 0;
  #void = 0;

  constructor(resolver: Resolver, address: string) {
    this.#resolver = resolver;
    this.#address = address;
  }

  /** Undefined: no mechanism matches the address. */
  async record(domain: string): Promise<SpfOutcome | undefined> {
    const texts = await this.#resolver.txt(domain);
    if (texts.kind === 'trouble') return unknown(texts.why);
    const [text, more] = texts.kind === 'found' ? spfTexts(texts.records) : [];
    if (text === undefined) return permerror(`${domain} has no SPF record`);
    if (more !== undefined) return permerror(`${domain} has several SPF records, only one is allowed`);
    return this.text(text, domain);
  }

  get counts(): Pick<SpfCost, 'lookups' | 'void'> {
    return { lookups: this.#lookups, void: this.#void };
  }

  /** Evaluates a record of a domain. */
  async text(text: string, domain: string): Promise<SpfOutcome | undefined> {
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
    if (++this.#lookups > MAX_SPF_LOOKUPS) return tooMany;
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
    const found = await this.#addresses(host);
    return this.#emptyOrLate(found) ?? this.#holds(found, bits);
  }

  async #exchanges(domain: string, bits: { four: number; six: number }): Promise<boolean | SpfOutcome> {
    const found = await this.#resolver.mx(domain);
    const end = this.#emptyOrLate(found);
    if (end !== undefined || found.kind !== 'found') return end ?? false;
    if (found.records.length > MAX_SPF_LOOKUPS)
      return permerror(`${domain} has more than ${MAX_SPF_LOOKUPS} MX records`);
    for (const { exchange } of found.records) {
      const hosts = await this.#addresses(exchange);
      if (hosts.kind === 'trouble') return unknown(hosts.why);
      if (this.#holds(hosts, bits)) return true;
    }
    return false;
  }

  /** Addresses of the sender's family. RFC 7208 5. */
  async #addresses(host: string): Promise<Lookup<string>> {
    return this.#address.includes(':') ? this.#resolver.aaaa(host) : this.#resolver.a(host);
  }

  #holds(found: Lookup<string>, { four, six }: { four: number; six: number }): boolean {
    const bits = this.#address.includes(':') ? six : four;
    return found.kind === 'found' && found.records.some((one) => this.#covers(one, bits));
  }

  /** Counts a void lookup; undefined if there are records. */
  #emptyOrLate(found: Lookup<unknown>): false | SpfOutcome | undefined {
    if (found.kind === 'found') return undefined;
    if (found.kind === 'trouble') return unknown(found.why);
    return ++this.#void > MAX_SPF_VOID && permerror(`the record has more than ${MAX_SPF_VOID} names without records`);
  }

  async #include(domain: string): Promise<boolean | SpfOutcome> {
    const included = await this.record(domain);
    if (included === undefined) return false;
    return included.status === 'pending' || included.permerror === true ? included : included.status === 'pass';
  }

  async #redirect(target: string, domain: string): Promise<SpfOutcome | undefined> {
    const name = parseDomain(target);
    if (name === undefined || name === domain) return undefined;
    return ++this.#lookups > MAX_SPF_LOOKUPS ? tooMany : this.record(name);
  }

  #covers(host: string, bits: number): boolean {
    if (!ipaddr.isValid(host)) return false;
    const mine = ipaddr.parse(this.#address);
    const other = ipaddr.parse(host);
    return other.kind() === mine.kind() && mine.match(other, bits);
  }
}

const permerror = (detail: string): SpfOutcome => ({ status: 'fail', detail, permerror: true });
const tooMany = permerror(`the record needs more than ${MAX_SPF_LOOKUPS} DNS lookups`);
const unknown = (detail: string): SpfOutcome => ({ status: 'pending', detail });

function verdict({ qualifier, text }: SpfMechanism): SpfOutcome {
  if (qualifier === '' || qualifier === '+') return { status: 'pass', detail: `${text} authorizes this box` };
  return { status: 'fail', detail: `the record has ${text} before it authorizes this box` };
}
