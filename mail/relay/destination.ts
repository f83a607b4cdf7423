import { isIP, isIPv6 } from 'node:net';
import type { Lookup, MxRecord, Resolver } from '../dns/lookup.ts';
import { canonicalAddress, isPublicAddress } from '../dns/public-address.ts';
import { chooseMx, interleave, shuffle } from './mx.ts';

/** One address to connect to. */
export interface Host {
  /** Name of the mail exchanger, or the address itself for an address literal. */
  name: string;
  ip: string;
  port: number;
}

/** Where mail for a domain goes. */
export type Destination =
  /** In the order in which they are to be tried; never empty. */
  | { kind: 'hosts'; hosts: Host[] }
  | { kind: 'failed'; status: string; text: string; code: number }
  | { kind: 'deferred'; status: string; text: string };

/** What choosing depends on beside the DNS. */
export interface DestinationRules {
  resolver: Resolver;
  random: () => number;
  port: number;
  /** Whether this box may connect to an address that is not public. */
  allowPrivate(ip: string, port: number): boolean;
  /** Whether a host name is one of this box. */
  isOurName(host: string): boolean;
  /** Whether this box itself listens there. */
  isOurAddress(ip: string, port: number): boolean;
}

const MOST_ADDRESSES = 32;

/**
 * Finds the hosts that take mail for a domain (A-labels or an address literal). RFC 5321 5.1. Trouble with the DNS is
 * never a failure: the mail waits.
 */
export async function findDestination(domain: string, rules: DestinationRules): Promise<Destination> {
  if (domain.startsWith('[')) return fromAddresses(domain, literal(domain), rules);
  if (rules.isOurName(domain)) return ourselves(domain);
  const mx = await rules.resolver.mx(domain);
  if (mx.kind === 'trouble') return { kind: 'deferred', status: '4.4.3', text: mx.why };
  if (mx.kind === 'none') {
    return mx.nx ? failed('5.1.2', `The domain ${domain} does not exist`) : withoutMx(domain, rules);
  }
  const choice = chooseMx(mx.records, (host) => rules.isOurName(host), rules.random);
  if (choice.kind === 'null') return failed('5.1.10', `The domain ${domain} does not accept mail (null MX)`, 556);
  return choice.kind === 'ourselves' ? ourselves(domain) : fromExchanges(domain, choice.exchanges, rules);
}

/** Finds the addresses of one named host, or of an IP address; it takes mail for others, so its MX is not asked for. */
export function findHost(name: string, rules: DestinationRules): Promise<Destination> {
  if (isIP(name) === 0) return withoutMx(name, rules);
  return Promise.resolve(permitted(name, [{ name, ip: name, port: rules.port }], rules));
}

/** RFC 5321 5.1: without MX records the domain's own address takes its mail. */
async function withoutMx(domain: string, rules: DestinationRules): Promise<Destination> {
  const found = await hostsOf(domain, rules);
  if (found.trouble !== undefined) return { kind: 'deferred', status: '4.4.3', text: found.trouble };
  if (found.hosts.length === 0)
    return failed('5.1.2', `The domain ${domain} has no mail server: neither MX nor address`);
  return permitted(domain, found.hosts, rules);
}

async function fromExchanges(domain: string, mx: readonly MxRecord[], rules: DestinationRules): Promise<Destination> {
  const found = await Promise.all(
    mx.map(async ({ preference, exchange }) => ({ preference, ...(await hostsOf(exchange, rules)) })),
  );
  // A host whose address is ours ends the list like one whose name is ours.
  const ours = found.filter(({ hosts }) => hosts.some((host) => rules.isOurAddress(host.ip, host.port)));
  const limit = Math.min(...ours.map((one) => one.preference), Infinity);
  const usable = found.filter((one) => one.preference < limit);
  if (usable.length === 0) return ourselves(domain);
  const hosts = usable.flatMap((one) => one.hosts);
  const trouble = usable.find((one) => one.trouble !== undefined)?.trouble;
  if (hosts.length > 0) return permitted(domain, hosts, rules, trouble);
  if (trouble !== undefined) return { kind: 'deferred', status: '4.4.3', text: trouble };
  return failed('5.4.4', `None of the mail servers of ${domain} has an address`);
}

async function hostsOf(name: string, rules: DestinationRules): Promise<{ hosts: Host[]; trouble?: string }> {
  const [ipv6, ipv4] = await Promise.all([rules.resolver.aaaa(name), rules.resolver.a(name)]);
  const ips = interleave(shuffle(records(ipv6), rules.random), shuffle(records(ipv4), rules.random));
  const hosts = ips.filter((ip) => isIP(ip) !== 0).map((ip) => ({ name, ip, port: rules.port }));
  const trouble = [ipv4, ipv6].find((lookup) => lookup.kind === 'trouble');
  // One family that answers is enough to deliver; none at all is an answer only when both said so.
  return trouble === undefined || hosts.length > 0 ? { hosts } : { hosts, trouble: trouble.why };
}

function records(lookup: Lookup<string>): readonly string[] {
  return lookup.kind === 'found' ? lookup.records : [];
}

/** RFC 5321 4.1.3. */
function literal(domain: string): string | undefined {
  const inside = domain.slice(1, -1).replace(/^IPv6:/i, '');
  return isIP(inside) !== 0 && isIPv6(inside) === /^\[IPv6:/i.test(domain) ? inside : undefined;
}

function fromAddresses(domain: string, ip: string | undefined, rules: DestinationRules): Destination {
  if (ip === undefined) return failed('5.1.2', `${domain} is not an address that mail can be sent to`);
  return permitted(domain, [{ name: ip, ip, port: rules.port }], rules);
}

/** Leaves out what this box must not connect to: a stranger's DNS must not make it talk to the hosts around it. */
function permitted(domain: string, hosts: readonly Host[], rules: DestinationRules, trouble?: string): Destination {
  const others = hosts.filter((host) => !rules.isOurAddress(host.ip, host.port));
  if (others.length === 0) return ourselves(domain);
  const allowed = others.filter((host) => isPublicAddress(host.ip) || rules.allowPrivate(host.ip, host.port));
  if (allowed.length > 0) return { kind: 'hosts', hosts: allowed.slice(0, MOST_ADDRESSES) };
  // The server that could not be looked up may have a public address.
  if (trouble !== undefined) return { kind: 'deferred', status: '4.4.3', text: trouble };
  const refused = canonicalAddress(others[0]?.ip ?? '');
  return failed(
    '5.4.4',
    `The mail server of ${domain} is at ${refused}, a private address; MAILSTEAD_ALLOW_PRIVATE_NETWORKS can allow it`,
  );
}

function ourselves(domain: string): Destination {
  return failed('5.4.6', `The mail servers of ${domain} are this server, which does not know the domain (mail loop)`);
}

function failed(status: string, text: string, code = 550): Destination {
  return { kind: 'failed', status, text, code };
}
