import { isIPv6 } from 'node:net';
import type { Host } from './destination.ts';

/** Consecutive unreachable hosts before IPv6 itself counts as broken. */
const MAX_CONSECUTIVE_FAILURES = 3;
const IPV6_SUSPENSION_MS = 10 * 60_000;
/** Connect timeout of IPv6 if IPv4 can follow, ms. RFC 8305 would try both at once; a mail server can wait. */
const IPV6_CONNECT_TIMEOUT_MS = 5000;

/** Source addresses of outgoing mail; a family without one is not used. */
export interface OwnAddresses {
  ipv4?: string | undefined;
  ipv6?: string | undefined;
}

/**
 * Chooses between IPv6 and IPv4. Broken IPv6 is common and gives no error: each new host would cost a full connect timeout
 * before its IPv4 address is tried.
 */
export class AddressFamilies {
  readonly #own: OwnAddresses | undefined;
  readonly #monotonic: () => number;
  /** Unreachable IPv6 hosts since the last reachable one. */
  readonly #unreached = new Set<string>();
  #ipv6SuspendedUntil = -Infinity;

  constructor(own: OwnAddresses | undefined, monotonic: () => number) {
    this.#own = own;
    this.#monotonic = monotonic;
  }

  /** Orders usable hosts, IPv4 first while IPv6 counts as broken. */
  orderHosts(hosts: readonly Host[]): Host[] {
    const usable = hosts.filter((host) => this.#own === undefined || this.sourceAddress(host) !== undefined);
    if (this.#ipv6SuspendedUntil <= this.#monotonic()) return usable;
    return [...usable.filter((host) => !isIPv6(host.ip)), ...usable.filter((host) => isIPv6(host.ip))];
  }

  /** Returns the configured source address for this host. */
  sourceAddress(host: Host): string | undefined {
    return isIPv6(host.ip) ? this.#own?.ipv6 : this.#own?.ipv4;
  }

  /** Returns the connect timeout, ms; shorter if an IPv4 host follows. */
  connectTimeout(host: Host, others: readonly Host[], timeoutMs: number): number {
    const hasAlternative = isIPv6(host.ip) && others.some((other) => !isIPv6(other.ip));
    return hasAlternative ? Math.min(timeoutMs, IPV6_CONNECT_TIMEOUT_MS) : timeoutMs;
  }

  markConnected(host: Host): void {
    if (!isIPv6(host.ip)) return;
    this.#unreached.clear();
    this.#ipv6SuspendedUntil = -Infinity;
  }

  markUnreachable(host: Host): void {
    if (!isIPv6(host.ip)) return;
    this.#unreached.add(host.ip);
    if (this.#unreached.size < MAX_CONSECUTIVE_FAILURES) return;
    this.#unreached.clear();
    this.#ipv6SuspendedUntil = this.#monotonic() + IPV6_SUSPENSION_MS;
  }
}
