import type { Lookup, Resolver } from '../dns/lookup.ts';
import { isDnsName, isWithin } from '../dns/name.ts';
import type { SpfResult } from './authentication.ts';
import { dotted, ipOctets, networkOctets, sharesPrefix } from './ip-match.ts';
import { type Reverse, reverseNames } from './reverse-name.ts';
import { expandMacros, type MacroFacts } from './spf-macro.ts';
import { type Asking, isSpf, type Mechanism, readSpf, type SpfRecord } from './spf-record.ts';

/** From where a message came. */
export interface SpfClient {
  ip: string;
  helo: string;
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
}

export interface SpfFound {
  result: SpfResult;
  /** That was asked: of the sender, or of the greeting where there is no sender. A-labels in lower case, '' for none. */
  domain: string;
  identity?: 'helo';
}

/** Of RFC 7208 4.6.4: terms that ask the DNS, answers with nothing in them, hosts of one MX. */
const MOST_TERMS = 10;
const MOST_VOIDS = 2;
const MOST_HOSTS = 10;
/** Questions about hosts of all MX together, so that ten terms of ten hosts are no hundred questions. */
const MOST_HOST_QUESTIONS = 20;

/**
 * Evaluates the SPF policy of who sends. The explanation that a domain may publish is not fetched: it is a stranger's
 * text and proves nothing. RFC 7208 2.3, 2.4, 4.
 */
export async function checkSpf(client: SpfClient, resolver: Resolver): Promise<SpfFound> {
  const { ip, helo } = client;
  const at = client.sender.lastIndexOf('@');
  const scope = client.sender === '' ? ({ identity: 'helo' } as const) : {};
  const domain = (client.sender === '' ? helo : client.sender.slice(at + 1)).toLowerCase().replace(/\.$/, '');
  const octets = ipOctets(ip);
  if (octets === undefined || !isHost(domain))
    return { result: 'none', domain: isDnsName(domain) ? domain : '', ...scope };
  const local = at > 0 ? client.sender.slice(0, at) : 'postmaster';
  const check = new Check({ ip, octets, helo, sender: `${local}@${domain}`, resolver });
  try {
    return { result: await check.host(domain), domain, ...scope };
  } catch (error) {
    if (error instanceof Stop) return { result: error.result, domain, ...scope };
    throw error;
  }
}

/** RFC 7208 4.3: a name that is worth a question. */
function isHost(domain: string): boolean {
  return isDnsName(domain) && domain.includes('.') && !domain.startsWith('[');
}

/** The whole check has ended. */
class Stop extends Error {
  override readonly name = 'Stop';
  readonly result: 'temperror' | 'permerror';

  constructor(result: 'temperror' | 'permerror') {
    super(result);
    this.result = result;
  }
}

interface Subject {
  ip: string;
  octets: readonly number[];
  helo: string;
  sender: string;
  resolver: Resolver;
}

/** How much of an address has to be the same. */
interface Bits {
  bits4: number;
  bits6: number;
}

/** One check, with what it may still ask. */
class Check {
  readonly #subject: Subject;
  #terms = 0;
  #voids = 0;
  #hosts = 0;
  #reverse: Promise<Reverse> | undefined;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  /** check_host() of RFC 7208 4. Rejects with what ends it all. */
  async host(domain: string): Promise<SpfResult> {
    if (!isHost(domain)) return 'none';
    const found = await this.#subject.resolver.txt(domain);
    if (found.kind === 'trouble') throw new Stop('temperror');
    const records = found.kind === 'found' ? found.records.filter(isSpf) : [];
    const [text, second] = records;
    if (text === undefined) return 'none';
    const record = second === undefined ? readSpf(text) : undefined;
    if (record === undefined) throw new Stop('permerror');
    return this.#evaluate(record, domain);
  }

  async #evaluate({ mechanisms, redirect }: SpfRecord, domain: string): Promise<SpfResult> {
    for (const mechanism of mechanisms) if (await this.#matches(mechanism, domain)) return mechanism.qualifier;
    if (redirect === undefined) return 'neutral';
    this.#countTerm();
    const result = await this.host(await this.#name(redirect, domain));
    if (result === 'none') throw new Stop('permerror');
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
        return this.#answersFor(term, await this.#name(term.domain, domain));
    }
  }

  async #answersFor(term: Asking, name: string): Promise<boolean> {
    switch (term.kind) {
      case 'include':
        return this.#includes(name);
      case 'exists':
        return (await this.#answers(name, () => this.#subject.resolver.a(name))).length > 0;
      case 'ptr':
        return (await this.#validated()).some((one) => isWithin(one, name.toLowerCase()));
      case 'a':
        return this.#isAddress(name, term);
      case 'mx':
        return this.#isExchange(name, term);
    }
  }

  /** RFC 7208 5.2. */
  async #includes(name: string): Promise<boolean> {
    const result = await this.host(name);
    if (result === 'none') throw new Stop('permerror');
    return result === 'pass';
  }

  async #isAddress(name: string, bits: Bits): Promise<boolean> {
    const found = await this.#answers(name, () => this.#addresses(name));
    return this.#isOneOf(found, bits);
  }

  /** Of the client's family. */
  #addresses(name: string): Promise<Lookup<string>> {
    const { octets, resolver } = this.#subject;
    return octets.length === 4 ? resolver.a(name) : resolver.aaaa(name);
  }

  #isOneOf(addresses: readonly string[], { bits4, bits6 }: Bits): boolean {
    const { octets } = this.#subject;
    return addresses.some((address) => sharesPrefix(octets, ipOctets(address), octets.length === 4 ? bits4 : bits6));
  }

  async #isExchange(name: string, bits: Bits): Promise<boolean> {
    const exchanges = await this.#answers(name, () => this.#subject.resolver.mx(name));
    if (exchanges.length > MOST_HOSTS) throw new Stop('permerror');
    for (const { exchange } of exchanges.toSorted((a, b) => a.preference - b.preference)) {
      if ((this.#hosts += 1) > MOST_HOST_QUESTIONS) throw new Stop('permerror');
      if (!isDnsName(exchange)) continue;
      const found = await this.#addresses(exchange);
      if (found.kind === 'trouble') throw new Stop('temperror');
      // A host without addresses of this family is no void answer of the term (RFC 7208 4.6.4).
      if (found.kind === 'found' && this.#isOneOf(found.records, bits)) return true;
    }
    return false;
  }

  /** Names of the client that lead back to it; trouble with them is no match. RFC 7208 5.5. */
  async #validated(): Promise<string[]> {
    const { ip, resolver } = this.#subject;
    this.#reverse ??= reverseNames(ip, resolver);
    const reverse = await this.#reverse;
    return reverse.kind === 'names' ? reverse.validated : [];
  }

  /** RFC 7208 4.8: a name that cannot be asked for does not exist. */
  async #answers<T>(name: string, ask: () => Promise<Lookup<T>>): Promise<readonly T[]> {
    const found: Lookup<T> = isDnsName(name) ? await ask() : { kind: 'none', nx: true };
    if (found.kind === 'trouble') throw new Stop('temperror');
    if (found.kind === 'found' && found.records.length > 0) return found.records;
    if ((this.#voids += 1) > MOST_VOIDS) throw new Stop('permerror');
    return [];
  }

  #countTerm(): void {
    if ((this.#terms += 1) > MOST_TERMS) throw new Stop('permerror');
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
