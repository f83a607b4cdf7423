import type { Resolver } from '../dns/lookup.ts';
import type { Log, Meter } from '../log.ts';
import type { Address } from '../message/address.ts';
import { systemClock, type Clock } from './clock.ts';
import { Connector } from './connector.ts';
import type { DestinationRules } from './destination.ts';
import type { OwnAddresses } from './families.ts';
import { RELAY_LIMITS, type RelayLimits } from './limits.ts';
import type { Queue, QueueItem, SigningKey } from './needs.ts';
import { Sender } from './sender.ts';
import { type RefusedLogin, type Smarthost, Smarthosts } from './smarthosts.ts';
import { type FindHostPolicy, type FindTlsPolicy, noDemands } from './tls-policy/policy.ts';
import { Worker } from './worker.ts';

export interface RelayOptions {
  queue: Queue;
  resolver: Resolver;
  /**
   * Keys that sign in the name of a domain; none for a domain that is not signed for. With a tenant only where the domain
   * is still that one's. Rejecting means "later".
   */
  keys(domain: string, tenant: number | undefined): Promise<readonly SigningKey[]>;
  /** The envelope sender on the wire of one row; without it that of its message. Rejecting leaves that too. */
  returnPath?(item: QueueItem): Promise<Address | undefined>;
  /** Our name in EHLO and in reports; its keys sign what has the null reverse-path. */
  hostname: string;
  /** Port of mail exchangers: 25, except in tests. */
  outboundPort: number;
  /** Whether mail may go to an address that is not public. */
  allowPrivate(ip: string, port: number): boolean;
  /** Whether a host name is one of this box; {@link hostname} always is. */
  isOurName?(host: string): boolean;
  /** Whether this box itself listens there. */
  isOurAddress(ip: string, port: number): boolean;
  /** A smarthost by the number that {@link Way} names; undefined: it is there no more. Rejecting means "later". */
  smarthost?(id: number): Promise<Smarthost | undefined>;
  /** Our name in EHLO when it is not {@link hostname}: the one that the outgoing address leads back to. */
  ehlo?: string | undefined;
  /** Our addresses, where it matters which of them mail leaves from. */
  from?: OwnAddresses | undefined;
  /** For MTA-STS and DANE; without it TLS is opportunistic. */
  tlsPolicy?: FindTlsPolicy;
  /** For DANE of smarthosts. */
  smarthostDane?: FindHostPolicy;
  limits?: Partial<RelayLimits>;
  clock?: Clock;
  /** In [0, 1). */
  random?: () => number;
  log: Log;
  meter: Meter;
}

export interface Relay {
  /** Finishes what is on the wire, within a bound, and takes on nothing new. */
  close(): Promise<void>;
  /** Smarthosts that refuse their login now, for people to see. */
  refusedLogins(): RefusedLogin[];
}

/** Starts to send what the queue holds. Everything that leaves this box by SMTP leaves here. */
export function startRelay(options: RelayOptions): Relay {
  const { queue, resolver, hostname, log, meter } = options;
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  const limits = { ...RELAY_LIMITS, ...options.limits };
  const rules: DestinationRules = {
    resolver,
    random,
    port: options.outboundPort,
    allowPrivate: (ip, port) => options.allowPrivate(ip, port),
    isOurName: (host) => host === hostname || (options.isOurName?.(host) ?? false),
    isOurAddress: (ip, port) => options.isOurAddress(ip, port),
  };
  const connector = new Connector({
    rules,
    hostname: options.ehlo ?? hostname,
    from: options.from,
    limits,
    clock,
    meter,
    tlsPolicy: options.tlsPolicy ?? ((domain) => Promise.resolve(noDemands(domain))),
  });
  const find = async (id: number): Promise<Smarthost | undefined> => options.smarthost?.(id);
  const smarthosts = new Smarthosts({
    find,
    rules,
    hostname: options.ehlo ?? hostname,
    from: options.from,
    dane: options.smarthostDane,
    limits,
    clock,
    log,
    meter,
  });
  const keys: RelayOptions['keys'] = (domain, tenant) => options.keys(domain, tenant);
  const returnPath = async (item: QueueItem): Promise<Address | undefined> =>
    options.returnPath === undefined ? item.sender : options.returnPath(item);
  const sender = new Sender({ queue, connector, smarthosts, keys, returnPath, hostname, clock, random, log });
  const connections = {
    destroy(): void {
      connector.destroy();
      smarthosts.destroy();
    },
  };
  const worker = new Worker({ queue, sender, connector: connections, limits, clock, random, log, meter });
  return { close: () => worker.close(), refusedLogins: () => smarthosts.refused() };
}
