import type { Log, Meter } from '../log.ts';
import { type Ban, firstBan, type Offender } from '../store/limit/ban.ts';
import { KeyedTokenBucket, perMinute, retryAfterSeconds } from '../limits/token-bucket.ts';
import { Bans } from './bans.ts';
import { ConnectionLimiter } from './connection-limiter.ts';
import { GUARD_LIMITS, type GuardLimits } from './limits.ts';
import { networkOf } from './network.ts';
import { Offences } from './offences.ts';
import type { ConnectionDecision, LoginKey, MailGuard, Offence, Protocol } from './types.ts';

export interface GuardOptions {
  limits?: Partial<GuardLimits>;
  /** Milliseconds UTC. */
  clock: () => number;
  /** True for clients that are never counted or banned: exempt networks, trusted proxies, in local mode this machine. */
  isExempt: (ip: string) => boolean;
  /** Stores a ban and returns it with its length, which grows with each ban of a network. */
  saveBan: (offender: Offender) => Promise<Ban>;
  /** Called for a ban that was lifted, so that other nodes lift it too; left out: there are none. */
  announceLifted?: (network: string) => void;
  log: Log;
  meter: Meter;
}

/** Connection limits, rate limits and bans, shared by all protocol servers. */
export class Guard implements MailGuard {
  readonly #options: GuardOptions;
  readonly #open: ConnectionLimiter;
  readonly #connections: KeyedTokenBucket;
  readonly #messages: KeyedTokenBucket;
  readonly #octets: KeyedTokenBucket;
  readonly #offences: Offences;
  readonly #bans: Bans;

  constructor(options: GuardOptions) {
    const limits = { ...GUARD_LIMITS, ...options.limits };
    this.#options = options;
    this.#open = new ConnectionLimiter(limits);
    this.#connections = new KeyedTokenBucket(perMinute(limits.connectionsPerMinute));
    this.#messages = new KeyedTokenBucket(perMinute(limits.messagesPerMinute));
    this.#octets = new KeyedTokenBucket(perMinute(limits.octetsPerMinute));
    this.#offences = new Offences(limits.offences, limits.networks);
    this.#bans = new Bans(limits.bans);
  }

  enter(protocol: Protocol, ip: string): ConnectionDecision {
    const exempt = this.#options.isExempt(ip);
    const refusal = exempt ? undefined : this.#refusal(protocol, ip);
    if (refusal !== undefined) return refusal;
    return { kind: this.#open.enter(protocol, ip, exempt) };
  }

  logIn(protocol: Protocol, ip: string, account: LoginKey): boolean {
    return !this.#options.isExempt(ip) && this.#open.logIn(protocol, ip, account);
  }

  leave(protocol: Protocol, ip: string, account?: LoginKey): void {
    this.#open.leave(protocol, ip, this.#options.isExempt(ip), account);
  }

  utilization(protocol: Protocol): number {
    return this.#open.utilization(protocol);
  }

  /** The ban of a client address. HTTP checks it per request, because a proxy hides the client until then. */
  banned(ip: string): Ban | undefined {
    return this.#bans.get(networkOf(ip), this.#options.clock());
  }

  addOffence(ip: string, offence: Offence): void {
    const { isExempt, clock, meter } = this.#options;
    if (ip === '' || isExempt(ip)) return;
    const [network, now] = [networkOf(ip), clock()];
    meter.count('guard_offences_total', { offence });
    const count = this.#offences.add(network, offence, now);
    if (count === undefined || this.#bans.get(network, now) !== undefined) return;
    if (this.#offences.isWelcome(network, now)) return;
    this.#offences.delete(network);
    this.#ban({ network, offence, count });
  }

  welcome(ip: string): void {
    if (!this.#options.isExempt(ip)) this.#offences.welcome(networkOf(ip), this.#options.clock());
  }

  retryAfter(ip: string): number {
    if (this.#options.isExempt(ip)) return 0;
    const [network, now] = [networkOf(ip), this.#options.clock()];
    return retryAfterSeconds(Math.max(this.#messages.wait(network, now), this.#octets.wait(network, now)));
  }

  countMessage(ip: string, octets: number, accepted: boolean): void {
    if (this.#options.isExempt(ip)) return;
    const [network, now] = [networkOf(ip), this.#options.clock()];
    this.#messages.spend(network, 1, now);
    this.#octets.spend(network, octets, now);
    if (accepted) this.#offences.addMessage(network, now);
  }

  /** Restores stored bans after a start. */
  restoreBans(bans: readonly Ban[]): void {
    for (const ban of bans) this.#bans.set(ban);
  }

  /** Lifts a ban and clears the offences of its network. */
  liftBan(network: string): void {
    this.liftedElsewhere(network);
    this.#options.announceLifted?.(network);
  }

  /** Lifts a ban that another node has lifted. */
  liftedElsewhere(network: string): void {
    this.#bans.delete(network);
    this.#offences.delete(network);
  }

  #refusal(protocol: Protocol, ip: string): ConnectionDecision | undefined {
    const ban = protocol === 'http' ? undefined : this.banned(ip);
    if (ban !== undefined) return { kind: 'banned', ban };
    const retryAfter = retryAfterSeconds(this.#connections.take(networkOf(ip), this.#options.clock()));
    return retryAfter > 0 ? { kind: 'too-fast', retryAfter } : undefined;
  }

  /** Bans at once with the first length; the stored ban, possibly longer, replaces it. */
  #ban(offender: Offender): void {
    const { clock, saveBan, log, meter } = this.#options;
    const first = firstBan(offender, clock());
    this.#bans.set(first);
    meter.count('guard_bans_total', { offence: offender.offence });
    saveBan(offender).then(
      (ban) => {
        // The ban may have been lifted meanwhile.
        if (this.#bans.get(ban.network, clock()) === first) this.#bans.set(ban);
        log.warn({ ...offender, times: ban.times, until: new Date(ban.until).toISOString() }, 'network banned');
      },
      (error: unknown) => log.error({ err: error, ...offender }, 'failed to store a ban, it ends at the next restart'),
    );
  }
}
