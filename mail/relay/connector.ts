import type { Meter } from '../log.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';
import { findDestination, type DestinationRules, type Host } from './destination.ts';
import { HostMemory } from './host-memory.ts';
import type { RelayLimits } from './limits.ts';
import { openSession, type TlsPolicy } from './open-session.ts';
import { Session } from './session.ts';
import { deferred, failed, type Verdict } from './verdict.ts';

/** What a destination demands, for MTA-STS and DANE. */
export interface DestinationPolicy extends TlsPolicy {
  /** Whether mail may go to this host at all. */
  allows?(host: Host): boolean;
}

export interface ConnectorOptions {
  rules: DestinationRules;
  hostname: string;
  limits: RelayLimits;
  clock: Clock;
  meter: Meter;
  /** Rejecting means "later". */
  tlsPolicy?: ((domain: string) => Promise<DestinationPolicy>) | undefined;
}

/** Why a destination could not be reached, and which host said so. */
export interface Unreached {
  verdict: Verdict;
  host: Host | undefined;
}

const STOPPING = 'this server is stopping';

/** Finds a host of a destination that takes mail, and remembers those that do not. */
export class Connector {
  readonly hosts: HostMemory;
  readonly #options: ConnectorOptions;
  readonly #connections = new Set<Connection>();
  /** Ends the wait of each {@link connect} that is under way. */
  readonly #giveUp = new Set<() => void>();
  #stopping = false;

  constructor(options: ConnectorOptions) {
    this.#options = options;
    this.hosts = new HostMemory(() => options.clock.monotonic(), options.limits.hostRest);
  }

  /** A session with the best host that answers. RFC 5321 5.1: one after the other until one does. Never rejects. */
  connect(domain: string): Promise<Session | Unreached> {
    const { promise, resolve, reject } = Promise.withResolvers<Session | Unreached>();
    const giveUp = (): void => resolve({ verdict: deferred('4.3.2', STOPPING), host: undefined });
    if (this.#stopping) giveUp();
    this.#giveUp.add(giveUp);
    void this.#connect(domain)
      .then(resolve, reject)
      .finally(() => this.#giveUp.delete(giveUp));
    return promise;
  }

  /** Breaks every connection off, also those still to come: what is on the wire is then "later". */
  destroy(): void {
    this.#stopping = true;
    for (const giveUp of this.#giveUp) giveUp();
    for (const connection of this.#connections) connection.destroy(STOPPING);
  }

  async #connect(domain: string): Promise<Session | Unreached> {
    const { rules } = this.#options;
    const destination = await findDestination(domain, rules);
    if (destination.kind === 'failed') {
      return { verdict: failed(destination.status, destination.text, destination.code), host: undefined };
    }
    if (destination.kind === 'deferred') {
      return { verdict: deferred(destination.status, destination.text), host: undefined };
    }
    const policy = await this.#policy(domain);
    if (policy === undefined) return { verdict: deferred('4.7.0', 'the TLS policy is not known now'), host: undefined };
    const allowed = destination.hosts.filter((host) => policy.allows?.(host) ?? true);
    if (allowed.length === 0) {
      return {
        verdict: deferred('4.7.0', `no mail server of ${domain} is one that its policy names`),
        host: undefined,
      };
    }
    return this.#tryHosts(allowed, policy);
  }

  async #policy(domain: string): Promise<DestinationPolicy | undefined> {
    try {
      return (await this.#options.tlsPolicy?.(domain)) ?? { required: false };
    } catch {
      return undefined;
    }
  }

  async #tryHosts(all: readonly Host[], policy: DestinationPolicy): Promise<Session | Unreached> {
    const { limits, clock } = this.#options;
    const { hosts, resting, why } = this.hosts.choose(all);
    const started = clock.monotonic();
    const unreached: Unreached[] = resting === undefined ? [] : [{ verdict: deferred('4.4.1', why), host: resting }];
    for (const host of hosts.slice(0, limits.hosts)) {
      const opened = await this.#open(host, policy);
      if (opened instanceof Session) return opened;
      unreached.push(opened);
      // Hosts that each use up their whole time would hold a connection's place for half an hour.
      if (clock.monotonic() - started > limits.timeouts.command) break;
    }
    // One host that may take it later outweighs others that never will.
    return (
      unreached.findLast((one) => one.verdict.outcome === 'deferred') ??
      unreached.at(-1) ?? { verdict: deferred('4.4.1', 'no host to try'), host: undefined }
    );
  }

  async #open(host: Host, tls: DestinationPolicy): Promise<Session | Unreached> {
    const { hostname, limits, meter } = this.#options;
    const opened = await openSession(host, {
      hostname,
      timeouts: limits.timeouts,
      tls,
      onConnection: (connection) => this.#watch(connection),
    });
    const result = !(opened instanceof Session) ? 'none' : opened.tls.startsWith('TLS') ? 'tls' : 'clear';
    meter.count('relay_sessions_total', { result });
    if (opened instanceof Session) return opened;
    if (opened.dead) this.hosts.dead(host, opened.verdict.text);
    return { verdict: opened.verdict, host };
  }

  #watch(connection: Connection): void {
    if (this.#stopping) return connection.destroy(STOPPING);
    this.#connections.add(connection);
    connection.onClosed(() => this.#connections.delete(connection));
  }
}
