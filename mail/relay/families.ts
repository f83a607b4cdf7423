import { isIPv6 } from 'node:net';
import type { Host } from './destination.ts';

/** Hosts in a row that could not be connected to before IPv6 itself is doubted. */
const IN_A_ROW = 3;
const DOUBT_MS = 10 * 60_000;
/** For a connection by IPv6 where IPv4 can follow, ms. RFC 8305 would try both at once; a mail server can wait. */
const SHORT_MS = 5000;

/** Addresses of our own that mail leaves from; none of a family: that family is not used. */
export interface OwnAddresses {
  ipv4?: string | undefined;
  ipv6?: string | undefined;
}

/**
 * Chooses between IPv6 and IPv4. A box whose IPv6 leads nowhere is common, and nothing says so: each new host would cost
 * the whole time for connecting before its IPv4 address is tried.
 */
export class Families {
  readonly #own: OwnAddresses | undefined;
  readonly #monotonic: () => number;
  /** Hosts that could not be connected to by IPv6 since one could. */
  readonly #unreached = new Set<string>();
  #doubtUntil = -Infinity;

  constructor(own: OwnAddresses | undefined, monotonic: () => number) {
    this.#own = own;
    this.#monotonic = monotonic;
  }

  /** What can be connected to, IPv4 first while IPv6 is in doubt. */
  order(hosts: readonly Host[]): Host[] {
    const usable = hosts.filter((host) => this.#own === undefined || this.from(host) !== undefined);
    if (this.#doubtUntil <= this.#monotonic()) return usable;
    return [...usable.filter((host) => !isIPv6(host.ip)), ...usable.filter((host) => isIPv6(host.ip))];
  }

  /** Our address for a connection to this host, when one is set. */
  from(host: Host): string | undefined {
    return isIPv6(host.ip) ? this.#own?.ipv6 : this.#own?.ipv4;
  }

  /** How long to wait for a connection, ms, when these hosts could follow. */
  patience(host: Host, others: readonly Host[], whole: number): number {
    const spare = isIPv6(host.ip) && others.some((other) => !isIPv6(other.ip));
    return spare ? Math.min(whole, SHORT_MS) : whole;
  }

  connected(host: Host): void {
    if (!isIPv6(host.ip)) return;
    this.#unreached.clear();
    this.#doubtUntil = -Infinity;
  }

  unreached(host: Host): void {
    if (!isIPv6(host.ip)) return;
    this.#unreached.add(host.ip);
    if (this.#unreached.size < IN_A_ROW) return;
    this.#unreached.clear();
    this.#doubtUntil = this.#monotonic() + DOUBT_MS;
  }
}
