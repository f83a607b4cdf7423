import { lruMap } from '../limits/lru-map.ts';
import type { Host } from './destination.ts';

interface HostBackoff {
  until: number;
  /** Length of the backoff, ms. */
  length: number;
  /** Reason why it is not tried; undefined for a host that responds but drops connections. */
  why: string | undefined;
}

/** Hosts in memory; the least recently used is evicted. */
const MAX_HOSTS = 10_000;
/** Unreachable hosts, and time without a reachable one, ms, after which outbound port 25 counts as blocked. */
const CUT_OFF = { hosts: 4, since: 10 * 60_000 } as const;

/**
 * Remembers unreachable hosts for a while, so that mail for many domains does not wait for the same dead host repeatedly.
 * Hosts that drop connections are tried last.
 */
export class HostHealth {
  readonly #backoffs = lruMap<string, HostBackoff>(MAX_HOSTS);
  readonly #monotonic: () => number;
  readonly #length: { first: number; most: number };
  /** Unreachable hosts since the last reachable one. */
  readonly #unreached = new Set<string>();
  #reachedAt = -Infinity;

  constructor(monotonic: () => number, length: { first: number; most: number }) {
    this.#monotonic = monotonic;
    this.#length = length;
  }

  /** Chooses the hosts to try now, unstable ones last; `why`: reason for the excluded ones. */
  choose(hosts: readonly Host[]): { hosts: Host[]; resting: Host | undefined; why: string } {
    const markUnreachable = hosts.filter((host) => this.#backoff(host)?.why !== undefined);
    const alive = hosts.filter((host) => !markUnreachable.includes(host));
    const markUnstable = alive.filter((host) => this.#backoff(host) !== undefined);
    const ordered = [...alive.filter((host) => !markUnstable.includes(host)), ...markUnstable];
    const resting = markUnreachable[0];
    return { hosts: ordered, resting, why: resting === undefined ? '' : (this.#backoff(resting)?.why ?? '') };
  }

  /** True if no mail server seems reachable, as where a provider blocks port 25. */
  get isCutOff(): boolean {
    return this.#unreached.size >= CUT_OFF.hosts && this.#monotonic() - this.#reachedAt > CUT_OFF.since;
  }

  /** Marks a host without an SMTP server. Each consecutive failure doubles the backoff. */
  dead(host: Host, why: string): void {
    if (this.#unreached.size < CUT_OFF.hosts) this.#unreached.add(host.ip);
    this.#remember(host, why);
  }

  /** Marks a host that dropped the connection during a message. */
  doubtful(host: Host): void {
    if (this.#backoff(host) === undefined) this.#remember(host, undefined);
  }

  markWorking(host: Host): void {
    this.#unreached.clear();
    this.#reachedAt = this.#monotonic();
    this.#backoffs.delete(key(host));
  }

  #backoff(host: Host): HostBackoff | undefined {
    const rest = this.#backoffs.get(key(host));
    return rest !== undefined && rest.until > this.#monotonic() ? rest : undefined;
  }

  #remember(host: Host, why: string | undefined): void {
    const name = key(host);
    const last = this.#backoffs.get(name);
    const running = last !== undefined && last.until > this.#monotonic();
    // Concurrent failures count once.
    const length =
      last === undefined ? this.#length.first : Math.min(this.#length.most, last.length * (running ? 1 : 2));
    this.#backoffs.set(name, { until: this.#monotonic() + length, length, why });
  }
}

function key(host: Host): string {
  return `${host.ip} ${host.port}`;
}
