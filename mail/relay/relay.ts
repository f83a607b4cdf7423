import type { Resolver } from '../dns/lookup.ts';
import type { Log, Meter } from '../log.ts';
import type { Address } from '../message/address.ts';
import { systemClock, type RelayClock } from './clock.ts';
import { Connector } from './connector.ts';
import type { ConnectionRules } from './destination.ts';
import type { OwnAddresses } from './address-families.ts';
import { RELAY_LIMITS, type RelayLimits } from './limits.ts';
import type { RelayQueue, QueueItem, SigningKey } from './relay-queue.ts';
import { GroupSender } from './group-sender.ts';
import { type RefusedLogin, Smarthosts } from './smarthosts.ts';
import { type FindHostPolicy, type FindTlsPolicy, noTlsPolicy } from './tls-policy/policy.ts';
import type { RampBook } from './ramp-book.ts';
import { RelayWorker } from './queue-runner.ts';
import type { Smarthost } from './smarthost-policy.ts';

export interface RelayOptions {
  queue: RelayQueue;
  resolver: Resolver;
  /**
   * Finds the signing keys of a domain; empty for an unsigned domain. With a tenant, only if the domain still belongs to it. A
   * rejection defers.
   */
  keys(domain: string, tenant: number | undefined): Promise<readonly SigningKey[]>;
  /** Returns the envelope sender of one row; left out or rejected: that of its message. */
  returnPath?(item: QueueItem): Promise<Address | undefined>;
  /** Host name in EHLO and reports; its keys sign mail with the null reverse-path. */
  hostname: string;
  /** Port of mail exchangers: 25, except in tests. */
  outboundPort: number;
  /** True if connections to this private address are allowed. */
  allowPrivate(ip: string, port: number): boolean;
  /** True for host names of this box; {@link hostname} always is one. */
  isOurName?(host: string): boolean;
  /** True if this box listens on this address. */
  isOurAddress(ip: string, port: number): boolean;
  /** A smarthost by the number that {@link Way} names; undefined if deleted. A rejection defers. */
  smarthost?(id: number): Promise<Smarthost | undefined>;
  /** EHLO name if it differs from {@link hostname}: the reverse name of the outgoing address. */
  ehlo?: string | undefined;
  /** Source addresses; undefined: the system chooses. */
  from?: OwnAddresses | undefined;
  /** For MTA-STS and DANE; without it TLS is opportunistic. */
  tlsPolicy?: FindTlsPolicy;
  /** For DANE of smarthosts. */
  smarthostDane?: FindHostPolicy;
  /** Sending ramp; left out: none. */
  ramp?: RampBook | undefined;
  limits?: Partial<RelayLimits>;
  clock?: RelayClock;
  /** In [0, 1). */
  random?: () => number;
  log: Log;
  meter: Meter;
}

export interface Relay {
  /** Completes open transactions within a time limit, and starts none. */
  close(): Promise<void>;
  /** Lists smarthosts that currently reject their login. */
  refusedLogins(): RefusedLogin[];
}

/** Starts the relay. All outgoing SMTP mail of the box passes it. */
export function startRelay(options: RelayOptions): Relay {
  const { queue, resolver, hostname, log, meter } = options;
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  const limits = { ...RELAY_LIMITS, ...options.limits };
  const rules: ConnectionRules = {
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
    tlsPolicy: options.tlsPolicy ?? ((domain) => Promise.resolve(noTlsPolicy(domain))),
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
  const sender = new GroupSender({
    queue,
    connector,
    smarthosts,
    keys,
    returnPath,
    ramp: options.ramp,
    hostname,
    clock,
    random,
    log,
  });
  const connections = {
    destroy(): void {
      connector.destroy();
      smarthosts.destroy();
    },
  };
  const worker = new RelayWorker({ queue, sender, connector: connections, limits, clock, random, log, meter });
  return { close: () => worker.close(), refusedLogins: () => smarthosts.refusedLogins() };
}
