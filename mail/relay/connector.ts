import type { Meter } from '../log.ts';
import type { TlsResult } from '../store/queue/tls-result.ts';
import type { RelayClock } from './clock.ts';
import type { Connection } from './connection.ts';
import { findDestination, type ConnectionRules, type Host } from './destination.ts';
import { AddressFamilies, type OwnAddresses } from './address-families.ts';
import { HostHealth } from './host-health.ts';
import type { RelayLimits } from './limits.ts';
import { openSession } from './open-session.ts';
import { RelaySession } from './session.ts';
import {
  type BarredHost,
  type DestinationPolicy,
  type FindTlsPolicy,
  type HostPolicy,
  toTlsResult,
  type TlsRequirement,
  applyTlsRequirement,
} from './tls-policy/policy.ts';
import { TlsTicketCache } from './tls-ticket-cache.ts';
import { deferred, failed, type AttemptVerdict } from './attempt-verdict.ts';

export interface ConnectorOptions {
  rules: ConnectionRules;
  /** EHLO name. */
  hostname: string;
  /** Source addresses; undefined: the system chooses. */
  from?: OwnAddresses | undefined;
  limits: RelayLimits;
  clock: RelayClock;
  meter: Meter;
  tlsPolicy: FindTlsPolicy;
}

/** TLS options of a message. RFC 8689. */
export interface MessageTlsOptions {
  requireTls: boolean;
  /** True for `TLS-Required: No`; read only if a policy of the receiver applies. */
  waivesTls(): Promise<boolean>;
}

/** Reason why a destination could not be reached, and the host that gave it. */
export interface ConnectFailure {
  verdict: AttemptVerdict;
  host: Host | undefined;
  /** For TLS-RPT. */
  tlsResults: readonly TlsResult[];
}

const STOPPING = 'this server is stopping';
const NO_USABLE_HOST =
  'no host can be reached from the outbound addresses of this server (MAILSTEAD_OUTBOUND_ADDRESSES)';

/** Connects to a host of a destination that accepts mail, and remembers hosts that do not. */
export class Connector {
  readonly hosts: HostHealth;
  readonly #options: ConnectorOptions;
  readonly #families: AddressFamilies;
  readonly #sessions: TlsTicketCache;
  readonly #connections = new Set<Connection>();
  /** Cancels each pending {@link connect}. */
  readonly #giveUp = new Set<() => void>();
  #stopping = false;

  constructor(options: ConnectorOptions) {
    this.#options = options;
    const monotonic = (): number => options.clock.monotonic();
    this.hosts = new HostHealth(monotonic, options.limits.hostBackoff);
    this.#families = new AddressFamilies(options.from, monotonic);
    this.#sessions = new TlsTicketCache(monotonic);
  }

  /** Opens a session with the first host that responds, in order. RFC 5321 5.1. Never rejects. */
  connect(domain: string, tlsOptions: MessageTlsOptions): Promise<RelaySession | ConnectFailure> {
    const { promise, resolve, reject } = Promise.withResolvers<RelaySession | ConnectFailure>();
    const giveUp = (): void => resolve(connectFailure(deferred('4.3.2', STOPPING)));
    if (this.#stopping) giveUp();
    this.#giveUp.add(giveUp);
    void this.#connect(domain, tlsOptions)
      .then(resolve, reject)
      .finally(() => this.#giveUp.delete(giveUp));
    return promise;
  }

  /** Closes all connections, and those still being opened; open transactions are deferred. */
  destroy(): void {
    this.#stopping = true;
    for (const giveUp of this.#giveUp) giveUp();
    for (const connection of this.#connections) connection.destroy(STOPPING);
  }

  async #connect(domain: string, tlsOptions: MessageTlsOptions): Promise<RelaySession | ConnectFailure> {
    const { rules } = this.#options;
    const [destination, policy] = await Promise.all([findDestination(domain, rules), this.#policy(domain)]);
    if (destination.kind === 'failed') {
      return connectFailure(failed(destination.status, destination.text, destination.code));
    }
    if (destination.kind === 'deferred') return connectFailure(deferred(destination.status, destination.text));
    if (policy === undefined) {
      return connectFailure(deferred('4.3.0', `the TLS policy of ${domain} could not be determined`));
    }
    const reached = await this.#tryHosts(destination.hosts, policy, tlsOptions);
    const tlsResults = [...policy.problems, ...reached.tlsResults];
    for (const { type, result } of tlsResults) {
      this.#options.meter.count('relay_tls_results_total', { policy: type, result });
    }
    return reached instanceof RelaySession ? Object.assign(reached, { tlsResults }) : { ...reached, tlsResults };
  }

  async #policy(domain: string): Promise<DestinationPolicy | undefined> {
    try {
      return await this.#options.tlsPolicy(domain);
    } catch {
      return undefined;
    }
  }

  async #tryHosts(
    all: readonly Host[],
    policy: DestinationPolicy,
    tlsOptions: MessageTlsOptions,
  ): Promise<RelaySession | ConnectFailure> {
    const { limits, clock } = this.#options;
    const { hosts, resting, why } = this.hosts.choose(this.#families.orderHosts(all));
    const started = clock.monotonic();
    const tried: ConnectFailure[] = resting === undefined ? [] : [connectFailure(deferred('4.4.1', why), resting)];
    let dialed = 0;
    for (const [at, host] of hosts.entries()) {
      const demand = await policy.forHost(host);
      const opened = await this.#open(host, demand, tlsOptions, hosts.slice(at + 1));
      if (opened instanceof RelaySession) {
        opened.tlsResults.unshift(...tried.flatMap((one) => one.tlsResults));
        return opened;
      }
      tried.push(opened);
      // A host that a policy bars is not dialed, and the permitted one may be the last.
      if (!('kind' in demand)) dialed += 1;
      // Hosts that each time out would occupy a connection slot for half an hour.
      if (dialed >= limits.hosts || clock.monotonic() - started > limits.timeouts.command) break;
    }
    return summarizeFailures(tried);
  }

  async #open(
    host: Host,
    demand: HostPolicy | BarredHost,
    tlsOptions: MessageTlsOptions,
    others: readonly Host[],
  ): Promise<RelaySession | ConnectFailure> {
    const { hostname, limits, meter } = this.#options;
    const requirement = await effectiveTlsRequirement(demand, tlsOptions);
    const policy = applyTlsRequirement(demand, requirement, host);
    if ('kind' in policy) {
      meter.count('relay_sessions_total', { result: 'none' });
      return connectFailure(policy.verdict, host, [toTlsResult(policy.report, policy.failure, host)]);
    }
    const connect = this.#families.connectTimeout(host, others, limits.timeouts.connect);
    const opened = await openSession(host, {
      hostname,
      timeouts: { ...limits.timeouts, connect },
      policy,
      requirement,
      from: this.#families.sourceAddress(host),
      sessions: this.#sessions,
      onConnection: (connection) => this.#watch(connection, host),
    });
    const result = !(opened instanceof RelaySession) ? 'none' : opened.tls.startsWith('TLS') ? 'tls' : 'clear';
    meter.count('relay_sessions_total', { result });
    if (opened instanceof RelaySession) return opened;
    if (opened.dead) this.hosts.dead(host, opened.verdict.text);
    if (opened.verdict.status === '4.4.1') this.#families.markUnreachable(host);
    return connectFailure(opened.verdict, host, opened.tlsResults);
  }

  #watch(connection: Connection, host: Host): void {
    this.#families.markConnected(host);
    if (this.#stopping) return connection.destroy(STOPPING);
    this.#connections.add(connection);
    connection.onClosed(() => this.#connections.delete(connection));
  }
}

/** Combines the receiver's policy with REQUIRETLS and TLS-Required of the message. RFC 8689 4.2. */
async function effectiveTlsRequirement(
  demand: HostPolicy | BarredHost,
  tlsOptions: MessageTlsOptions,
): Promise<TlsRequirement> {
  if (tlsOptions.requireTls) return 'required';
  const demands = 'kind' in demand || demand.required;
  return demands && (await tlsOptions.waivesTls()) ? 'optional' : 'policy';
}

/** Chooses the result: a host that defers outweighs hosts that reject. */
function summarizeFailures(tried: readonly ConnectFailure[]): ConnectFailure {
  const chosen = tried.findLast((one) => one.verdict.outcome === 'deferred') ?? tried.at(-1);
  const tlsResults = tried.flatMap((one) => one.tlsResults);
  return chosen === undefined ? connectFailure(deferred('4.4.1', NO_USABLE_HOST)) : { ...chosen, tlsResults };
}

function connectFailure(verdict: AttemptVerdict, host?: Host, tlsResults: readonly TlsResult[] = []): ConnectFailure {
  return { verdict, host, tlsResults };
}
