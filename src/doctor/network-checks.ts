import type { Resolver } from '../../mail/dns/lookup.ts';
import type { BlocklistCheck } from '../deliverability/blocklists.ts';
import type { DeliverabilityCheck } from '../deliverability/checked.ts';
import { CHECKS, type DeliverabilityReport, SMARTHOST } from '../deliverability/report.ts';
import { type HealthCheck, healthy, unhealthy } from './health-check.ts';

const RETRY =
  'Wait some minutes, then run the doctor again. If it stays unknown, check the resolver (/etc/resolv.conf, MAILSTEAD_RESOLVERS).';
const RESOLVER_FIX = 'Check /etc/resolv.conf or MAILSTEAD_RESOLVERS: without DNS no mail is delivered or checked.';

/** Checks that the public name of the server resolves. */
export async function checkHostname(hostname: string, resolver: Resolver): Promise<HealthCheck> {
  const { addresses, troubled } = await addressesOf(hostname, resolver);
  if (addresses.length > 0)
    return healthy('host name', `${hostname} has the addresses ${addresses.slice(0, 4).join(', ')}.`);
  if (troubled) {
    const why = `${hostname} cannot be looked up: the resolver does not answer.`;
    return unhealthy('host name', 'failed', why, RESOLVER_FIX);
  }
  const fix = `Publish the address of this server as the A record of ${hostname}.`;
  return unhealthy('host name', 'failed', `${hostname} has no address in the DNS.`, fix);
}

/** Checks that the name in EHLO resolves. RFC 5321 4.1.4. */
export async function checkEhloName(name: string, resolver: Resolver): Promise<HealthCheck> {
  const { addresses, troubled } = await addressesOf(name, resolver);
  if (addresses.length > 0) return healthy('EHLO name', `This server says EHLO ${name}, which resolves.`);
  if (troubled) return unhealthy('EHLO name', 'unknown', `${name} cannot be looked up now.`, RESOLVER_FIX);
  const fix = 'Publish its address, or correct MAILSTEAD_OUTBOUND_HOSTNAME.';
  return unhealthy('EHLO name', 'failed', `This server says EHLO ${name}, which has no address in the DNS.`, fix);
}

/** A name that cannot exist (RFC 6761 6.4), and a zone that always does. */
const MISSING_NAME = 'doctor-check.invalid';
const PRESENT_ZONE = 'com';

/** Checks that the resolver answers, and that it does not invent answers for names that do not exist. */
export async function checkResolver(resolver: Resolver): Promise<HealthCheck> {
  const [missing, present] = await Promise.all([resolver.a(MISSING_NAME), resolver.ns(PRESENT_ZONE)]);
  if (missing.kind === 'found') {
    const why = `The resolver answers for names that do not exist: ${MISSING_NAME} has the address ${missing.records[0] ?? ''}.`;
    const fix = 'Use another resolver (MAILSTEAD_RESOLVERS): with invented answers mail goes to wrong servers.';
    return unhealthy('resolver', 'failed', why, fix);
  }
  if (present.kind === 'found') return healthy('resolver', 'The resolver answers, and invents no names.');
  const why =
    present.kind === 'trouble'
      ? 'The resolver does not answer.'
      : `The resolver says that ${PRESENT_ZONE} does not exist.`;
  return unhealthy('resolver', 'failed', why, RESOLVER_FIX);
}

/** Checks that the IPv6 addresses of the public name are those of this machine, and that it listens there. */
export async function checkIpv6(
  { hostname, listen, own }: { hostname: string; listen: readonly string[]; own: readonly string[] },
  resolver: Resolver,
): Promise<HealthCheck> {
  const found = await resolver.aaaa(hostname);
  if (found.kind === 'trouble')
    return unhealthy('IPv6', 'unknown', `The AAAA record of ${hostname} cannot be looked up now.`, RESOLVER_FIX);
  if (found.kind === 'none') {
    if (own.length === 0) return healthy('IPv6', 'This machine has no public IPv6 address, and none is published.');
    const why = `This machine has the IPv6 address ${own[0] ?? ''}, but ${hostname} has no AAAA record.`;
    const fix = `Publish it as AAAA with a reverse name, or set MAILSTEAD_OUTBOUND_ADDRESSES to the IPv4 address.`;
    return unhealthy('IPv6', 'warning', why, fix);
  }
  if (!listen.some((address) => address.includes(':'))) {
    const why = `${hostname} has an AAAA record, but this server does not listen on IPv6.`;
    return unhealthy('IPv6', 'failed', why, 'Add :: to MAILSTEAD_LISTEN, or remove the AAAA record.');
  }
  const foreign = found.records.filter((ip) => !own.includes(ip));
  if (foreign.length === 0) return healthy('IPv6', `${hostname} has the IPv6 address of this machine.`);
  const why = `The AAAA record of ${hostname} is ${foreign[0] ?? ''}, which is no address of this machine.`;
  return unhealthy('IPv6', 'warning', why, 'Correct the AAAA record, unless the provider translates addresses.');
}

/** Checks where mail of a domain arrives. */
export async function checkMx(domain: string, hostname: string, resolver: Resolver): Promise<HealthCheck> {
  const name = `${domain}: mx`;
  const found = await resolver.mx(domain);
  if (found.kind === 'trouble')
    return unhealthy(name, 'unknown', `The MX record of ${domain} cannot be looked up now.`, RETRY);
  const publish = `Publish "MX 10 ${hostname}" for ${domain}.`;
  if (found.kind === 'none' || found.records.length === 0)
    return unhealthy(name, 'failed', `${domain} has no MX record.`, publish);
  const ours = found.records.filter(({ exchange }) => exchange === hostname);
  const [other] = found.records.filter(({ exchange }) => exchange !== hostname);
  if (ours.length === 0) {
    // RFC 7505: a null MX.
    const target = other?.exchange === '' ? 'nowhere' : `to ${other?.exchange ?? ''}`;
    const why = `Mail for ${domain} goes ${target}, not to this server.`;
    return unhealthy(name, 'failed', why, publish);
  }
  if (other === undefined) return healthy(name, `Mail for ${domain} arrives here.`);
  const why = `Mail for ${domain} arrives here and at ${other.exchange}: each mailbox is on one server only.`;
  return unhealthy(name, 'warning', why, `Remove the MX record ${other.exchange}, unless it passes mail on to here.`);
}

async function addressesOf(name: string, resolver: Resolver): Promise<{ addresses: string[]; troubled: boolean }> {
  const both = await Promise.all([resolver.a(name), resolver.aaaa(name)]);
  return {
    addresses: both.flatMap((found) => (found.kind === 'found' ? [...found.records] : [])),
    troubled: both.some(({ kind }) => kind === 'trouble'),
  };
}

/** Lines of one hosted domain. A check of the server itself (PTR, certificate) is left to its own line. */
export function domainChecks(domain: string, report: DeliverabilityReport): HealthCheck[] {
  const named = CHECKS.filter((name) => name !== 'ptr' && name !== 'tls');
  const lists = report.blocklists.filter(({ about }) => !isAddress(about));
  return [
    ...named.map((name) => lineOf(`${domain}: ${name}`, report[name])),
    ...(lists.length === 0 ? [] : [listingCheck(`${domain}: blocklists`, lists)]),
  ];
}

/** The line of the reverse name (PTR), which is the same for all domains. */
export function reverseNameCheck({ ptr }: DeliverabilityReport): HealthCheck {
  return lineOf('reverse name', ptr);
}

/** Lines of the blocklists for the addresses that mail leaves from. */
export function addressListChecks({ blocklists }: DeliverabilityReport): HealthCheck[] {
  const lists = blocklists.filter(({ about }) => isAddress(about));
  const refusing = blocklists.filter(({ refused }) => refused === true);
  const access = [...new Set(refusing.map(({ list }) => list))].join(', ');
  return [
    listingCheck('blocklists', lists),
    ...(refusing.length === 0
      ? []
      : [
          unhealthy(
            'blocklist access',
            'warning',
            `These lists refuse the resolver of this server: ${access}.`,
            'Run a resolver of your own on this machine (unbound): the lists refuse those that many share.',
          ),
        ]),
  ];
}

const isAddress = (about: string): boolean => about.includes(':') || /^[\d.]+$/.test(about);

const NO_LOOKUP =
  'Nothing was looked up: no list is set (MAILSTEAD_DNSBL), or the addresses that mail leaves from are unknown.';

const NO_LOOKUP_FIX =
  'Set MAILSTEAD_DNSBL to lists that your receivers use, and MAILSTEAD_OUTBOUND_ADDRESSES where the addresses differ from those of the host name.';
const LIST_FIX =
  'Run a resolver of your own on this machine (unbound) where the lists refuse a shared one; remove lists that have ended from MAILSTEAD_DNSBL and MAILSTEAD_URIBL.';

function listingCheck(name: string, lists: readonly BlocklistCheck[]): HealthCheck {
  const listed = lists.find(({ status }) => status === 'fail');
  if (listed !== undefined)
    return unhealthy(name, 'failed', `${listed.about} is listed by ${listed.list}.`, listed.fix ?? '');
  const clear = lists.filter(({ status }) => status === 'pass');
  if (clear.length > 0) return healthy(name, `No list has an entry: ${clear.map(({ list }) => list).join(', ')}.`);
  if (lists.length === 0) return unhealthy(name, 'off', NO_LOOKUP, NO_LOOKUP_FIX);
  const silent = [...new Set(lists.map(({ list, detail }) => `${list} (${detail})`))].join(', ');
  return unhealthy(name, 'unknown', `No list gave an answer that counts: ${silent}.`, LIST_FIX);
}

const STATUS = { pass: 'ok', fail: 'failed', unknown: 'unknown', none: 'off' } as const;

const NO_DETAIL = {
  pass: 'Nothing was found.',
  fail: 'It failed.',
  unknown: 'It could not be checked.',
  none: 'Off.',
} as const;

const NO_FIX = {
  ok: '',
  failed: RETRY,
  unknown: RETRY,
  off: 'Choose "Begin testing" on the page of the domain, or call set_mta_sts.',
} as const;

function lineOf(name: string, { status, detail, fix }: DeliverabilityCheck): HealthCheck {
  const why = detail === '' ? NO_DETAIL[status] : `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
  const relayed = detail === SMARTHOST ? 'Check at the smarthost that it may send for the domain.' : undefined;
  return { name, status: STATUS[status], why, fix: relayed ?? fix ?? NO_FIX[STATUS[status]] };
}
