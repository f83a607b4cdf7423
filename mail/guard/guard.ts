import type { Log, Meter } from '../log.ts';
import { type Ban, firstBan, type Offender } from '../store/ban.ts';
import { Bans } from './bans.ts';
import { LIMITS, type GuardLimits } from './limits.ts';
import { networkOf } from './network.ts';
import { Offences } from './offences.ts';
import { Places } from './places.ts';
import { RateLimit } from './rate-limit.ts';
import type { Entry, MailGate, Offence, Protocol } from './types.ts';

export interface GuardOptions {
  limits?: Partial<GuardLimits>;
  /** Milliseconds UTC. */
  clock: () => number;
  /** Peers that nothing here counts or bans: exempt networks, our own proxies, in local mode this machine. */
  free: (ip: string) => boolean;
  /** Keeps a ban over restarts and answers it, with the length that this offender has come to. */
  keep: (offender: Offender) => Promise<Ban>;
  log: Log;
  meter: Meter;
}

/** Who may come in, at whatever door: places, pace, and bans of those who abused us. */
export class Guard implements MailGate {
  readonly #options: GuardOptions;
  readonly #places: Places;
  readonly #connections: RateLimit;
  readonly #messages: RateLimit;
  readonly #octets: RateLimit;
  readonly #offences: Offences;
  readonly #bans: Bans;

  constructor(options: GuardOptions) {
    const limits = { ...LIMITS, ...options.limits };
    this.#options = options;
    this.#places = new Places(limits);
    this.#connections = new RateLimit(limits.connectionsPerMinute);
    this.#messages = new RateLimit(limits.messagesPerMinute);
    this.#octets = new RateLimit(limits.octetsPerMinute);
    this.#offences = new Offences(limits.offences, limits.networks);
    this.#bans = new Bans(limits.bans);
  }

  enter(protocol: Protocol, ip: string): Entry {
    const free = this.#options.free(ip);
    const entry = free ? undefined : this.#refusal(protocol, ip);
    if (entry !== undefined) return entry;
    return { kind: this.#places.take(protocol, ip, free) };
  }

  leave(protocol: Protocol, ip: string): void {
    this.#places.leave(protocol, ip, this.#options.free(ip));
  }

  taken(protocol: Protocol): number {
    return this.#places.taken(protocol);
  }

  /** The ban that an address is under. HTTP asks at each request: only there is it known who is behind a proxy. */
  banned(ip: string): Ban | undefined {
    return this.#bans.get(networkOf(ip), this.#options.clock());
  }

  offended(ip: string, offence: Offence): void {
    const { free, clock, meter } = this.#options;
    if (ip === '' || free(ip)) return;
    const [network, now] = [networkOf(ip), clock()];
    meter.count('guard_offences_total', { offence });
    const count = this.#offences.add(network, offence, now);
    if (count === undefined || this.#bans.get(network, now) !== undefined) return;
    if (this.#offences.isWelcome(network, now)) return;
    this.#offences.forget(network);
    this.#ban({ network, offence, count });
  }

  welcome(ip: string): void {
    if (!this.#options.free(ip)) this.#offences.welcome(networkOf(ip), this.#options.clock());
  }

  pause(ip: string): number {
    if (this.#options.free(ip)) return 0;
    const [network, now] = [networkOf(ip), this.#options.clock()];
    return Math.max(this.#messages.wait(network, now), this.#octets.wait(network, now));
  }

  arrived(ip: string, octets: number, taken: boolean): void {
    if (this.#options.free(ip)) return;
    const [network, now] = [networkOf(ip), this.#options.clock()];
    this.#messages.spend(network, 1, now);
    this.#octets.spend(network, octets, now);
    if (taken) this.#offences.message(network, now);
  }

  /** Takes up bans that were kept before. */
  remember(bans: readonly Ban[]): void {
    for (const ban of bans) this.#bans.set(ban);
  }

  /** A ban was lifted: the network begins anew. */
  forgive(network: string): void {
    this.#bans.delete(network);
    this.#offences.forget(network);
  }

  #refusal(protocol: Protocol, ip: string): Entry | undefined {
    const ban = protocol === 'http' ? undefined : this.banned(ip);
    if (ban !== undefined) return { kind: 'banned', ban };
    const retryAfter = this.#connections.take(networkOf(ip), this.#options.clock());
    return retryAfter > 0 ? { kind: 'too-fast', retryAfter } : undefined;
  }

  /** Holds from now on, by what is known here; how long it really is says whoever keeps it. */
  #ban(offender: Offender): void {
    const { clock, keep, log, meter } = this.#options;
    const first = firstBan(offender, clock());
    this.#bans.set(first);
    meter.count('guard_bans_total', { offence: offender.offence });
    keep(offender).then(
      (ban) => {
        // It may have been lifted in the meantime.
        if (this.#bans.get(ban.network, clock()) === first) this.#bans.set(ban);
        log.warn({ ...offender, times: ban.times, until: new Date(ban.until).toISOString() }, 'a network is shut out');
      },
      (error: unknown) => log.error({ err: error, ...offender }, 'a ban could not be kept, a restart would forget it'),
    );
  }
}
