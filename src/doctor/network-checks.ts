import type { Resolver } from '../../mail/dns/lookup.ts';
import { blocklistSummary } from '../deliverability/blocklists.ts';
import type { DeliverabilityCheck } from '../deliverability/checked.ts';
import { CHECKS, type DeliverabilityReport } from '../deliverability/report.ts';
import { type HealthCheck, healthy, unhealthy } from './health-check.ts';

/** Checks that the public name of the server resolves. */
export async function checkHostname(hostname: string, resolver: Resolver): Promise<HealthCheck> {
  const [ipv4, ipv6] = await Promise.all([resolver.a(hostname), resolver.aaaa(hostname)]);
  const addresses = [ipv4, ipv6].flatMap((found) => (found.kind === 'found' ? [...found.records] : []));
  if (addresses.length > 0)
    return healthy('host name', `${hostname} has the addresses ${addresses.slice(0, 4).join(', ')}.`);
  if ([ipv4, ipv6].some(({ kind }) => kind === 'trouble')) {
    const fix = 'Check /etc/resolv.conf or MAILSTEAD_RESOLVERS: without DNS no mail is delivered or checked.';
    return unhealthy('host name', 'failed', `${hostname} cannot be looked up: the resolver does not answer.`, fix);
  }
  const fix = `Publish the address of this server as the A record of ${hostname}.`;
  return unhealthy('host name', 'failed', `${hostname} has no address in the DNS.`, fix);
}

/** Lines of one hosted domain. A check of the server itself (PTR, certificate) is left to its own line. */
export function domainChecks(domain: string, report: DeliverabilityReport): HealthCheck[] {
  const named = CHECKS.filter((name) => name !== 'ptr' && name !== 'tls');
  return [
    ...named.map((name) => lineOf(`${domain}: ${name}`, report[name])),
    lineOf(`${domain}: blocklists`, blocklistSummary(report.blocklists)),
  ];
}

/** The line of the reverse name (PTR), which is the same for all domains. */
export function reverseNameCheck({ ptr }: DeliverabilityReport): HealthCheck {
  return lineOf('reverse name', ptr);
}

const STATUS = { pass: 'ok', fail: 'failed', unknown: 'unknown', none: 'off' } as const;

const NO_DETAIL = {
  pass: 'Nothing was found.',
  fail: 'It failed.',
  unknown: 'It could not be checked.',
  none: 'Off.',
} as const;

function lineOf(name: string, { status, detail, fix = '' }: DeliverabilityCheck): HealthCheck {
  const why = detail === '' ? NO_DETAIL[status] : `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
  return { name, status: STATUS[status], why, fix };
}
