import type { Meter } from '../log.ts';
import type { TlsResult } from '../store/tls-result.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';
import { findDestination, type DestinationRules, type Host } from './destination.ts';
import { Families, type OwnAddresses } from './families.ts';
import { HostMemory } from './host-memory.ts';
import type { RelayLimits } from './limits.ts';
import { openSession } from './open-session.ts';
import { Session } from './session.ts';
import {
  type Barred,
  type DestinationPolicy,
  type FindTlsPolicy,
  type HostPolicy,
  resultOf,
  type TlsWish,
  wished,
} from './tls-policy/policy.ts';
import { TlsSessions } from './tls-sessions.ts';
import { deferred, failed, type Verdict } from './verdict.ts';

export interface ConnectorOptions {
  rules: DestinationRules;
  /** Our name in EHLO. */
  hostname: string;
  /** Our addresses, where it matters which of them mail leaves from. */
  from?: OwnAddresses | undefined;
  limits: RelayLimits;
  clock: Clock;
  meter: Meter;
  tlsPolicy: FindTlsPolicy;
}

/** What the message that a connection is for asks of it. RFC 8689. */
export interface Wanted {
  requireTls: boolean;
  /** Whether it says `TLS-Required: No`; asked only where a policy of the receiver is in the way. */
  waivesTls(): Promise<boolean>;
}

/** Why a destination could not be reached, and which host said so. */
export interface Unreached {
  verdict: Verdict;
  host: Host | undefined;
  /** For TLS-RPT. */
  tlsResults: readonly TlsResult[];
}

const STOPPING = 'this server is stopping';
const NO_HOST = 'there is no host to try by the addresses that this server sends from (MAILSTEAD_OUTBOUND_ADDRESSES)';

/** Finds a host of a destination that takes mail, and remembers those that do not. */
export class Connector {
  readonly hosts: HostMemory;
  readonly #options: ConnectorOptions;
  readonly #families: Families;
  readonly #sessions: TlsSessions;
  readonly #connections = new Set<Connection>();
  /** Ends the wait of each {@link connect} that is under way. */
  readonly #giveUp = new Set<() => void>();
  #stopping = false;

  constructor(options: ConnectorOptions) {
    this.#options = options;
    const monotonic = (): number => options.clock.monotonic();
    this.hosts = new HostMemory(monotonic, options.limits.hostRest);
    this.#families = new Families(options.from, monotonic);
    this.#sessions = new TlsSessions(monotonic);
  }

  /** A session with the best host that answers. RFC 5321 5.1: one after the other until one does. Never rejects. */
  connect(domain: string, wanted: Wanted): Promise<Session | Unreached> {
    const { promise, resolve, reject } = Promise.withResolvers<Session | Unreached>();
    const giveUp = (): void => resolve(unreached(deferred('4.3.2', STOPPING)));
    if (this.#stopping) giveUp();
    this.#giveUp.add(giveUp);
    void this.#connect(domain, wanted)
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

  async #connect(domain: string, wanted: Wanted): Promise<Session | Unreached> {
    const { rules } = this.#options;
    const [destination, policy] = await Promise.all([findDestination(domain, rules), this.#policy(domain)]);
    if (destination.kind === 'failed') {
      return unreached(failed(destination.status, destination.text, destination.code));
    }
    if (destination.kind === 'deferred') return unreached(deferred(destination.status, destination.text));
    if (policy === undefined) {
      return unreached(deferred('4.3.0', `what ${domain} demands of TLS could not be found out now`));
    }
    const reached = await this.#tryHosts(destination.hosts, policy, wanted);
    const tlsResults = [...policy.problems, ...reached.tlsResults];
    for (const { type, result } of tlsResults) {
      this.#options.meter.count('relay_tls_results_total', { policy: type, result });
    }
    return reached instanceof Session ? Object.assign(reached, { tlsResults }) : { ...reached, tlsResults };
  }

  async #policy(domain: string): Promise<DestinationPolicy | undefined> {
    try {
      return await this.#options.tlsPolicy(domain);
    } catch {
      return undefined;
    }
  }

  async #tryHosts(all: readonly Host[], policy: DestinationPolicy, wanted: Wanted): Promise<Session | Unreached> {
    const { limits, clock } = this.#options;
    const { hosts, resting, why } = this.hosts.choose(this.#families.order(all));
    const started = clock.monotonic();
    const tried: Unreached[] = resting === undefined ? [] : [unreached(deferred('4.4.1', why), resting)];
    let dialed = 0;
    for (const [at, host] of hosts.entries()) {
      const demand = await policy.of(host);
      const opened = await this.#open(host, demand, wanted, hosts.slice(at + 1));
      if (opened instanceof Session) {
        opened.tlsResults.unshift(...tried.flatMap((one) => one.tlsResults));
        return opened;
      }
      tried.push(opened);
      // A host that a policy bars costs nothing, and the one that it names may be the last.
      if (!('kind' in demand)) dialed += 1;
      // Hosts that each use up their whole time would hold a connection's place for half an hour.
      if (dialed >= limits.hosts || clock.monotonic() - started > limits.timeouts.command) break;
    }
    return summed(tried);
  }

  async #open(
    host: Host,
    demand: HostPolicy | Barred,
    wanted: Wanted,
    others: readonly Host[],
  ): Promise<Session | Unreached> {
    const { hostname, limits, meter } = this.#options;
    const wish = await wishOf(demand, wanted);
    const policy = wished(demand, wish, host);
    if ('kind' in policy) {
      meter.count('relay_sessions_total', { result: 'none' });
      return unreached(policy.verdict, host, [resultOf(policy.report, policy.failure, host)]);
    }
    const connect = this.#families.patience(host, others, limits.timeouts.connect);
    const opened = await openSession(host, {
      hostname,
      timeouts: { ...limits.timeouts, connect },
      policy,
      wish,
      from: this.#families.from(host),
      sessions: this.#sessions,
      onConnection: (connection) => this.#watch(connection, host),
    });
    const result = !(opened instanceof Session) ? 'none' : opened.tls.startsWith('TLS') ? 'tls' : 'clear';
    meter.count('relay_sessions_total', { result });
    if (opened instanceof Session) return opened;
    if (opened.dead) this.hosts.dead(host, opened.verdict.text);
    if (opened.verdict.status === '4.4.1') this.#families.unreached(host);
    return unreached(opened.verdict, host, opened.tlsResults);
  }

  #watch(connection: Connection, host: Host): void {
    this.#families.connected(host);
    if (this.#stopping) return connection.destroy(STOPPING);
    this.#connections.add(connection);
    connection.onClosed(() => this.#connections.delete(connection));
  }
}

/** The receiver's demands are met unless the message waives them, and its sender's demands come on top. RFC 8689 4.2. */
async function wishOf(demand: HostPolicy | Barred, wanted: Wanted): Promise<TlsWish> {
  if (wanted.requireTls) return 'required';
  const demands = 'kind' in demand || demand.required;
  return demands && (await wanted.waivesTls()) ? 'optional' : 'policy';
}

/** One host that may take it later outweighs others that never will. */
function summed(tried: readonly Unreached[]): Unreached {
  const chosen = tried.findLast((one) => one.verdict.outcome === 'deferred') ?? tried.at(-1);
  const tlsResults = tried.flatMap((one) => one.tlsResults);
  return chosen === undefined ? unreached(deferred('4.4.1', NO_HOST)) : { ...chosen, tlsResults };
}

function unreached(verdict: Verdict, host?: Host, tlsResults: readonly TlsResult[] = []): Unreached {
  return { verdict, host, tlsResults };
}
