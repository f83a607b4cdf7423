import { isIPv4, isIPv6 } from 'node:net';
import { isMacroString } from './spf-macro.ts';

export type Qualifier = 'pass' | 'fail' | 'softfail' | 'neutral';

/** SPF mechanism without its qualifier. */
type Term = { kind: 'all' } | { kind: 'ip4' | 'ip6'; network: string; bits: number } | DnsMechanism;

/** Mechanism that queries DNS. `domain` is a macro-string; undefined means the current domain. */
export type DnsMechanism =
  | { kind: 'include' | 'exists'; domain: string }
  | { kind: 'a' | 'mx'; domain: string | undefined; bits4: number; bits6: number }
  | { kind: 'ptr'; domain: string | undefined };

export type Mechanism = { qualifier: Qualifier; term: Term };

export interface SpfRecord {
  mechanisms: Mechanism[];
  /** The macro-string of `redirect=`. */
  redirect: string | undefined;
}

const QUALIFIERS: Record<string, Qualifier> = { '+': 'pass', '-': 'fail', '~': 'softfail', '?': 'neutral' };
const MODIFIER = /^[a-z][a-z0-9_.-]*=/i;
/** A domain-spec ends in a non-numeric label or in a macro. RFC 7208 7.1. */
const DOMAIN_END = /(?:\.(?![0-9]+\.?$)[a-z0-9](?:[a-z0-9-]{0,62}(?<!-))?\.?|%\{[^{}]*\}|%[%_-])$/i;
const CIDR = /^(.*?)(?:\/(0|[1-9][0-9]{0,2}))?(?:\/\/(0|[1-9][0-9]{0,2}))?$/s;

/** Limit of a DNS TXT record. */
const MAX_RECORD_OCTETS = 65_535;

/** True for a TXT record with the SPF version. RFC 7208 4.5. */
export function isSpf(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text);
}

/** Parses a whole record before evaluation; undefined on any syntax error. RFC 7208 4.6. */
export function readSpf(text: string): SpfRecord | undefined {
  const record: SpfRecord = { mechanisms: [], redirect: undefined };
  if (text.length > MAX_RECORD_OCTETS) return undefined;
  const once = new Set<string>();
  for (const term of text.slice('v=spf1'.length).split(' ')) {
    if (term === '') continue;
    const name = MODIFIER.exec(term)?.[0].slice(0, -1).toLowerCase();
    if (name === undefined) {
      const mechanism = readMechanism(term);
      if (mechanism === undefined) return undefined;
      record.mechanisms.push(mechanism);
      continue;
    }
    const value = term.slice(name.length + 1);
    const known = name === 'redirect' || name === 'exp';
    if (known ? once.has(name) || !isDomainSpec(value) : !isMacroString(value, true)) return undefined;
    once.add(name);
    if (name === 'redirect') record.redirect = value;
  }
  return record;
}

function readMechanism(term: string): Mechanism | undefined {
  const qualifier = QUALIFIERS[term[0] ?? ''];
  const rest = qualifier === undefined ? term : term.slice(1);
  const [, name = '', argument] = /^([a-z0-9]+)(.*)$/is.exec(rest) ?? [];
  const read = argument === undefined ? undefined : readArgument(name.toLowerCase(), argument);
  return read && { qualifier: qualifier ?? 'pass', term: read };
}

function readArgument(kind: string, argument: string): Term | undefined {
  const value = argument.startsWith(':') ? argument.slice(1) : undefined;
  switch (kind) {
    case 'all':
      return argument === '' ? { kind } : undefined;
    case 'include':
    case 'exists':
      return value !== undefined && isDomainSpec(value) ? { kind, domain: value } : undefined;
    case 'ptr':
      return argument === '' || (value !== undefined && isDomainSpec(value)) ? { kind, domain: value } : undefined;
    case 'a':
    case 'mx':
      return readHosts(kind, argument);
    case 'ip4':
    case 'ip6':
      return value === undefined ? undefined : readNetwork(kind, value);
    default:
      return undefined;
  }
}

/** `[":" domain-spec] [dual-cidr-length]`. */
function readHosts(kind: 'a' | 'mx', argument: string): Term | undefined {
  const [, name = '', four = '32', six = '128'] = CIDR.exec(argument) ?? [];
  const [bits4, bits6] = [Number(four), Number(six)];
  const valid = name === '' || (name.startsWith(':') && isDomainSpec(name.slice(1)));
  if (!valid || bits4 > 32 || bits6 > 128) return undefined;
  return { kind, domain: name === '' ? undefined : name.slice(1), bits4, bits6 };
}

function readNetwork(kind: 'ip4' | 'ip6', value: string): Term | undefined {
  const most = kind === 'ip4' ? 32 : 128;
  const [, network = '', length = String(most)] = /^([0-9a-f.:]+)(?:\/(0|[1-9][0-9]{0,2}))?$/i.exec(value) ?? [];
  const valid = kind === 'ip4' ? isIPv4(network) : isIPv6(network);
  return valid && Number(length) <= most ? { kind, network, bits: Number(length) } : undefined;
}

function isDomainSpec(text: string): boolean {
  return isMacroString(text, false) && DOMAIN_END.test(text);
}
