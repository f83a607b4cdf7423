import dns from 'node:dns';
import type { HostPort } from '../../config/parse.ts';
import type { Settings } from '../../config/settings.ts';
import type { Resolver, SecureResolver } from '../../mail/dns/lookup.ts';
import { createSecureResolver } from '../../mail/dns/secure-resolver.ts';
import type { Log, Meter } from '../../mail/log.ts';
import { isLoopback } from '../../mail/guard/network.ts';
import { systemClock } from '../../mail/relay/clock.ts';
import { createSmarthostDane, createTlsPolicyFinder } from '../../mail/relay/tls-policy/policies.ts';
import type { FindHostPolicy, FindTlsPolicy } from '../../mail/relay/tls-policy/policy.ts';
import { createStsFetcher } from '../../mail/relay/tls-policy/sts-fetch.ts';
import { StsPolicies } from '../../mail/relay/tls-policy/sts-policies.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { mayReach } from '../core/networks.ts';

export interface OutboundTlsContext {
  settings: Settings;
  store: MailStore;
  resolver: Resolver;
  /** ms UTC. */
  clock: () => number;
  log: Log;
  metrics: Meter;
  /** Port of MTA-STS policies instead of 443, for tests. */
  policyPort?: number;
}

/** Loopback stub resolvers that forward to others: Docker's and systemd-resolved's. Their AD bit is not trusted. */
const STUBS = new Set(['127.0.0.11', '127.0.0.53', '127.0.0.54']);
const DNS_PORT = 53;

/** Looks up the TLS policies (DANE, MTA-STS) of destination domains and refreshes them until closed. */
export class OutboundTls implements AsyncDisposable {
  readonly find: FindTlsPolicy;
  readonly ofSmarthost: FindHostPolicy;
  /** True if the resolvers' DNSSEC validation is trusted, so that DANE works. */
  readonly dane: boolean;
  readonly #sts: StsPolicies;

  constructor({ settings, store, resolver, clock, log, metrics, policyPort }: OutboundTlsContext) {
    const secure = secureResolver(settings);
    const fetch = createStsFetcher({
      resolver,
      allowPrivate: (ip, port) => mayReach(settings.allowPrivateNetworks, ip, port),
      ...(policyPort !== undefined && { port: policyPort }),
    });
    this.#sts = new StsPolicies({ store, resolver, fetch, clock: { ...systemClock, now: clock }, log, meter: metrics });
    this.dane = secure !== undefined;
    this.find = createTlsPolicyFinder({ sts: this.#sts, secure, now: clock });
    this.ofSmarthost = createSmarthostDane({ secure, now: clock });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#sts.close();
  }
}

/** Creates a resolver with trusted DNSSEC validation, if setting and resolver addresses allow it. */
export function secureResolver({
  resolvers,
  dnssec,
}: Pick<Settings, 'resolvers' | 'dnssec'>): SecureResolver | undefined {
  const servers = resolverServers(resolvers);
  if (dnssec === 'off' || servers.length === 0) return undefined;
  const near = servers.every(({ ip }) => isLoopback(ip) && !STUBS.has(ip));
  return dnssec === 'on' || near ? createSecureResolver({ servers }) : undefined;
}

/** Name servers of the settings, or the system's. */
export function resolverServers(resolvers: Settings['resolvers']): { ip: string; port: number }[] {
  return (resolvers ?? systemResolvers()).map(({ host, port }) => ({ ip: host, port }));
}

function systemResolvers(): HostPort[] {
  return dns.getServers().map((text) => {
    const [, six, port] = /^\[(.+)\]:(\d+)$/.exec(text) ?? [];
    if (six !== undefined) return { host: six, port: Number(port) };
    const [host = '', own] = text.includes('.') ? text.split(':') : [text];
    return { host, port: own === undefined ? DNS_PORT : Number(own) };
  });
}
