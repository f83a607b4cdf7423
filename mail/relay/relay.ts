import type { Resolver } from '../dns/lookup.ts';
import type { Log, Meter } from '../log.ts';
import { systemClock, type Clock } from './clock.ts';
import { Connector } from './connector.ts';
import type { OwnAddresses } from './families.ts';
import { RELAY_LIMITS, type RelayLimits } from './limits.ts';
import type { Queue, SigningKey } from './needs.ts';
import { Sender } from './sender.ts';
import { type FindTlsPolicy, noDemands } from './tls-policy/policy.ts';
import { Worker } from './worker.ts';

export interface RelayOptions {
  queue: Queue;
  resolver: Resolver;
  /** Keys that sign in the name of a domain; none for a domain that is not signed for. Rejecting means "later". */
  keys(domain: string): Promise<readonly SigningKey[]>;
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
  /** Our name in EHLO when it is not {@link hostname}: the one that the outgoing address leads back to. */
  ehlo?: string | undefined;
  /** Our addresses, where it matters which of them mail leaves from. */
  from?: OwnAddresses | undefined;
  /** For MTA-STS and DANE; without it TLS is opportunistic. */
  tlsPolicy?: FindTlsPolicy;
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
}

/** Starts to send what the queue holds. Everything that leaves this box by SMTP leaves here. */
export function startRelay(options: RelayOptions): Relay {
  const { queue, resolver, hostname, log, meter } = options;
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  const limits = { ...RELAY_LIMITS, ...options.limits };
  const connector = new Connector({
    rules: {
      resolver,
      random,
      port: options.outboundPort,
      allowPrivate: (ip, port) => options.allowPrivate(ip, port),
      isOurName: (host) => host === hostname || (options.isOurName?.(host) ?? false),
      isOurAddress: (ip, port) => options.isOurAddress(ip, port),
    },
    hostname: options.ehlo ?? hostname,
    from: options.from,
    limits,
    clock,
    meter,
    tlsPolicy: options.tlsPolicy ?? ((domain) => Promise.resolve(noDemands(domain))),
  });
  const sender = new Sender({ queue, connector, keys: (domain) => options.keys(domain), hostname, clock, random, log });
  return new Worker({ queue, sender, connector, limits, clock, random, log, meter });
}
