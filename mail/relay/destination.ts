import { isIP, isIPv6 } from 'node:net';
import type { Lookup, MxRecord, Resolver } from '../dns/lookup.ts';
import { canonicalAddress, isPublicAddress } from '../dns/public-address.ts';
import { chooseMx, interleave, shuffle } from './mx.ts';

/** One address of a mail server. */
export interface Host {
  /** Name of the mail exchanger, or the IP address for an address literal. */
  name: string;
  ip: string;
  port: number;
}

/** Mail servers of a domain, or the reason for none. */
export type MailDestination =
  /** In the order of attempts; never empty. */
  | { kind: 'hosts'; hosts: Host[] }
  | { kind: 'failed'; status: string; text: string; code: number }
  | { kind: 'deferred'; status: string; text: string };

/** Rules for connections. */
export interface ConnectionRules {
  resolver: Resolver;
  random: () => number;
  port: number;
  /** True if connections to this private address are allowed. */
  allowPrivate(ip: string, port: number): boolean;
  /** True for host names of this box. */
  isOurName(host: string): boolean;
  /** True if this box listens on this address. */
  isOurAddress(ip: string, port: number): boolean;
}

const MAX_ADDRESSES = 32;

/**
 * Finds the mail servers of a domain (A-labels or an address literal). RFC 5321 5.1. DNS errors defer and never fail.
 */
export async function findDestination(domain: string, rules: ConnectionRules): Promise<MailDestination> {
  if (domain.startsWith('[')) return fromAddresses(domain, addressLiteral(domain), rules);
  if (rules.isOurName(domain)) return loopToSelf(domain);
  const mx = await rules.resolver.mx(domain);
  if (mx.kind === 'trouble') return { kind: 'deferred', status: '4.4.3', text: mx.why };
  if (mx.kind === 'none') {
    return mx.nx ? failed('5.1.2', `The domain ${domain} does not exist`) : fromDomainAddress(domain, rules);
  }
  const choice = chooseMx(mx.records, (host) => rules.isOurName(host), rules.random);
  if (choice.kind === 'null') return failed('5.1.10', `The domain ${domain} does not accept mail (null MX)`, 556);
  return choice.kind === 'ourselves' ? loopToSelf(domain) : fromExchanges(domain, choice.exchanges, rules);
}

/** Finds the addresses of a smarthost; its MX records do not matter. */
export function findHost(name: string, rules: ConnectionRules): Promise<MailDestination> {
  if (isIP(name) === 0) return fromDomainAddress(name, rules);
  return Promise.resolve(permittedHosts(name, [{ name, ip: name, port: rules.port }], rules));
}

/** Implicit MX: without MX records the domain's own address is used. RFC 5321 5.1. */
async function fromDomainAddress(domain: string, rules: ConnectionRules): Promise<MailDestination> {
  const found = await hostsOf(domain, rules);
  if (found.trouble !== undefined) return { kind: 'deferred', status: '4.4.3', text: found.trouble };
  if (found.hosts.length === 0)
    return failed('5.1.2', `The domain ${domain} has no mail server: neither MX nor address`);
  return permittedHosts(domain, found.hosts, rules);
}

async function fromExchanges(
  domain: string,
  mx: readonly MxRecord[],
  rules: ConnectionRules,
): Promise<MailDestination> {
  const found = await Promise.all(
    mx.map(async ({ preference, exchange }) => ({ preference, ...(await hostsOf(exchange, rules)) })),
  );
  // A host with our address cuts the list, like one with our name.
  const ours = found.filter(({ hosts }) => hosts.some((host) => rules.isOurAddress(host.ip, host.port)));
  const limit = Math.min(...ours.map((one) => one.preference), Infinity);
  const usable = found.filter((one) => one.preference < limit);
  if (usable.length === 0) return loopToSelf(domain);
  const hosts = usable.flatMap((one) => one.hosts);
  const trouble = usable.find((one) => one.trouble !== undefined)?.trouble;
  if (hosts.length > 0) return permittedHosts(domain, hosts, rules, trouble);
  if (trouble !== undefined) return { kind: 'deferred', status: '4.4.3', text: trouble };
  return failed('5.4.4', `None of the mail servers of ${domain} has an address`);
}

async function hostsOf(name: string, rules: ConnectionRules): Promise<{ hosts: Host[]; trouble?: string }> {
  const [ipv6, ipv4] = await Promise.all([rules.resolver.aaaa(name), rules.resolver.a(name)]);
  const ips = interleave(shuffle(records(ipv6), rules.random), shuffle(records(ipv4), rules.random));
  const hosts = ips.filter((ip) => isIP(ip) !== 0).map((ip) => ({ name, ip, port: rules.port }));
  const trouble = [ipv4, ipv6].find((lookup) => lookup.kind === 'trouble');
  // One address family is enough to deliver; "no address" needs an answer for both.
  return trouble === undefined || hosts.length > 0 ? { hosts } : { hosts, trouble: trouble.why };
}

function records(lookup: Lookup<string>): readonly string[] {
  return lookup.kind === 'found' ? lookup.records : [];
}

/** RFC 5321 4.1.3. */
function addressLiteral(domain: string): string | undefined {
  const inside = domain.slice(1, -1).replace(/^IPv6:/i, '');
  return isIP(inside) !== 0 && isIPv6(inside) === /^\[IPv6:/i.test(domain) ? inside : undefined;
}

function fromAddresses(domain: string, ip: string | undefined, rules: ConnectionRules): MailDestination {
  if (ip === undefined) return failed('5.1.2', `${domain} is not an address that mail can be sent to`);
  return permittedHosts(domain, [{ name: ip, ip, port: rules.port }], rules);
}

/** Removes addresses that are not allowed: foreign DNS must not make this box connect to internal hosts (SSRF). */
function permittedHosts(
  domain: string,
  hosts: readonly Host[],
  rules: ConnectionRules,
  trouble?: string,
): MailDestination {
  const others = hosts.filter((host) => !rules.isOurAddress(host.ip, host.port));
  if (others.length === 0) return loopToSelf(domain);
  const allowed = others.filter((host) => isPublicAddress(host.ip) || rules.allowPrivate(host.ip, host.port));
  if (allowed.length > 0) return { kind: 'hosts', hosts: allowed.slice(0, MAX_ADDRESSES) };
  // The host that could not be looked up may have a public address.
  if (trouble !== undefined) return { kind: 'deferred', status: '4.4.3', text: trouble };
  const refused = canonicalAddress(others[0]?.ip ?? '');
  return failed(
    '5.4.4',
    `The mail server of ${domain} is at ${refused}, a private address; MAILSTEAD_ALLOW_PRIVATE_NETWORKS can allow it`,
  );
}

function loopToSelf(domain: string): MailDestination {
  return failed('5.4.6', `The mail servers of ${domain} are this server, which does not know the domain (mail loop)`);
}

function failed(status: string, text: string, code = 550): MailDestination {
  return { kind: 'failed', status, text, code };
}
