import type { Lookup, Resolver } from '../dns/lookup.ts';
import { isDnsName, isWithin } from '../dns/name.ts';
import type { SpfResult } from './authentication.ts';
import { dotted, ipOctets, networkOctets, sharesPrefix } from './ip-match.ts';
import { type ReverseLookup, reverseNames } from './reverse-name.ts';
import { expandMacros, type MacroFacts } from './spf-macro.ts';
import { type DnsMechanism, isSpf, type Mechanism, readSpf, type SpfRecord } from './spf-record.ts';

/** SMTP client and envelope sender. */
export interface SpfClient {
  ip: string;
  helo: string;
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
}

export interface SpfEvaluation {
  result: SpfResult;
  /** Evaluated domain: of the sender, or of EHLO if the sender is empty. A-labels in lower case; '' without one. */
  domain: string;
  identity?: 'helo';
}

/** Limits of RFC 7208 4.6.4: DNS mechanisms, void lookups, hosts of one MX. */
const MAX_DNS_TERMS = 10;
const MAX_VOID_LOOKUPS = 2;
const MAX_MX_HOSTS = 10;
/** Host lookups of all MX mechanisms together: ten mechanisms of ten hosts would cost a hundred. */
const MAX_HOST_LOOKUPS = 20;

/**
 * Evaluates the sender's SPF policy. The explanation (`exp=`) is not fetched: it is untrusted text. RFC 7208 2.3, 2.4, 4.
 */
export async function checkSpf(client: SpfClient, resolver: Resolver): Promise<SpfEvaluation> {
  const { ip, helo } = client;
  const at = client.sender.lastIndexOf('@');
  const scope = client.sender === '' ? ({ identity: 'helo' } as const) : {};
  const domain = (client.sender === '' ? helo : client.sender.slice(at + 1)).toLowerCase().replace(/\.$/, '');
  const octets = ipOctets(ip);
  if (octets === undefined || !isHost(domain))
    return { result: 'none', domain: isDnsName(domain) ? domain : '', ...scope };
  const local = at > 0 ? client.sender.slice(0, at) : 'postmaster';
  const check = new SpfEvaluator({ ip, octets, helo, sender: `${local}@${domain}`, resolver });
  try {
    return { result: await check.host(domain), domain, ...scope };
  } catch (error) {
    if (error instanceof SpfAbort) return { result: error.result, domain, ...scope };
    throw error;
  }
}

/** RFC 7208 4.3: a multi-label domain name. */
function isHost(domain: string): boolean {
  return isDnsName(domain) && domain.includes('.') && !domain.startsWith('[');
}

/** Ends the evaluation with an error result. */
class SpfAbort extends Error {
  override readonly name = 'Stop';
  readonly result: 'temperror' | 'permerror';

  constructor(result: 'temperror' | 'permerror') {
    super(result);
    this.result = result;
  }
}

interface SpfSubject {
  ip: string;
  octets: readonly number[];
  helo: string;
  sender: string;
  resolver: Resolver;
}

/** Prefix lengths of a dual-cidr. */
interface PrefixLengths {
  bits4: number;
  bits6: number;
}

/** One evaluation with its lookup counters. */
class SpfEvaluator {
  readonly #subject: SpfSubject;
  #terms = 0;
  #voids = 0;
  #hosts = 0;
  #reverse: Promise<ReverseLookup> | undefined;

  constructor(subject: SpfSubject) {
    this.#subject = subject;
  }

  /** check_host() of RFC 7208 4. Throws {@link SpfAbort} on temperror and permerror. */
  async host(domain: string): Promise<SpfResult> {
    if (!isHost(domain)) return 'none';
    const found = await this.#subject.resolver.txt(domain);
    if (found.kind === 'trouble') throw new SpfAbort('temperror');
    const records = found.kind === 'found' ? found.records.filter(isSpf) : [];
    const [text, second] = records;
    if (text === undefined) return 'none';
    const record = second === undefined ? readSpf(text) : undefined;
    if (record === undefined) throw new SpfAbort('permerror');
    return this.#evaluate(record, domain);
  }

  async #evaluate({ mechanisms, redirect }: SpfRecord, domain: string): Promise<SpfResult> {
    for (const mechanism of mechanisms) if (await this.#matches(mechanism, domain)) return mechanism.qualifier;
    if (redirect === undefined) return 'neutral';
    this.#countTerm();
    const result = await this.host(await this.#name(redirect, domain));
    if (result === 'none') throw new SpfAbort('permerror');
    return result;
  }

  async #matches({ term }: Mechanism, domain: string): Promise<boolean> {
    switch (term.kind) {
      case 'all':
        return true;
      case 'ip4':
      case 'ip6':
        return sharesPrefix(this.#subject.octets, networkOctets(term.network), term.bits);
      case 'include':
      case 'exists':
      case 'a':
      case 'mx':
      case 'ptr':
        this.#countTerm();
        return this.#matchesDns(term, await this.#name(term.domain, domain));
    }
  }

  async #matchesDns(term: DnsMechanism, name: string): Promise<boolean> {
    switch (term.kind) {
      case 'include':
        return this.#includes(name);
      case 'exists':
        return (await this.#lookUp(name, () => this.#subject.resolver.a(name))).length > 0;
      case 'ptr':
        return (await this.#validated()).some((one) => isWithin(one, name.toLowerCase()));
      case 'a':
        return this.#isAddress(name, term);
      case 'mx':
        return this.#isExchange(name, term);
    }
  }

  /** `include`. RFC 7208 5.2. */
  async #includes(name: string): Promise<boolean> {
    const result = await this.host(name);
    if (result === 'none') throw new SpfAbort('permerror');
    return result === 'pass';
  }

  async #isAddress(name: string, bits: PrefixLengths): Promise<boolean> {
    const found = await this.#lookUp(name, () => this.#addresses(name));
    return this.#isOneOf(found, bits);
  }

  /** Looks up A or AAAA by the client's address family. */
  #addresses(name: string): Promise<Lookup<string>> {
    const { octets, resolver } = this.#subject;
    return octets.length === 4 ? resolver.a(name) : resolver.aaaa(name);
  }

  #isOneOf(addresses: readonly string[], { bits4, bits6 }: PrefixLengths): boolean {
    const { octets } = this.#subject;
    return addresses.some((address) => sharesPrefix(octets, ipOctets(address), octets.length === 4 ? bits4 : bits6));
  }

  async #isExchange(name: string, bits: PrefixLengths): Promise<boolean> {
    const exchanges = await this.#lookUp(name, () => this.#subject.resolver.mx(name));
    if (exchanges.length > MAX_MX_HOSTS) throw new SpfAbort('permerror');
    for (const { exchange } of exchanges.toSorted((a, b) => a.preference - b.preference)) {
      if ((this.#hosts += 1) > MAX_HOST_LOOKUPS) throw new SpfAbort('permerror');
      if (!isDnsName(exchange)) continue;
      const found = await this.#addresses(exchange);
      if (found.kind === 'trouble') throw new SpfAbort('temperror');
      // An MX host without addresses of this family is no void lookup (RFC 7208 4.6.4).
      if (found.kind === 'found' && this.#isOneOf(found.records, bits)) return true;
    }
    return false;
  }

  /** Forward-confirmed names of the client; a DNS failure means no match. RFC 7208 5.5. */
  async #validated(): Promise<string[]> {
    const { ip, resolver } = this.#subject;
    this.#reverse ??= reverseNames(ip, resolver);
    const reverse = await this.#reverse;
    return reverse.kind === 'names' ? reverse.validated : [];
  }

  /** Looks a name up and counts void lookups. RFC 7208 4.8: an invalid name does not exist. */
  async #lookUp<T>(name: string, ask: () => Promise<Lookup<T>>): Promise<readonly T[]> {
    const found: Lookup<T> = isDnsName(name) ? await ask() : { kind: 'none', nx: true };
    if (found.kind === 'trouble') throw new SpfAbort('temperror');
    if (found.kind === 'found' && found.records.length > 0) return found.records;
    if ((this.#voids += 1) > MAX_VOID_LOOKUPS) throw new SpfAbort('permerror');
    return [];
  }

  #countTerm(): void {
    if ((this.#terms += 1) > MAX_DNS_TERMS) throw new SpfAbort('permerror');
  }

  async #name(spec: string | undefined, domain: string): Promise<string> {
    return spec === undefined ? domain : expandMacros(spec, this.#facts(domain));
  }

  #facts(domain: string): MacroFacts {
    const { octets, helo, sender } = this.#subject;
    const version = octets.length === 4 ? 'in-addr' : 'ip6';
    const validated = async (): Promise<string> => {
      const names = await this.#validated();
      return names.find((one) => one === domain) ?? names.find((one) => isWithin(one, domain)) ?? names[0] ?? 'unknown';
    };
    return { sender, domain, dottedIp: dotted(octets), version, helo, validated };
  }
}
