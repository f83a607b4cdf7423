import type { Log, Meter } from '../log.ts';
import { logInToServer } from './authenticate.ts';
import type { RelayClock } from './clock.ts';
import type { Connection } from './connection.ts';
import type { ConnectFailure } from './connector.ts';
import { AddressFamilies, type OwnAddresses } from './address-families.ts';
import { findHost, type ConnectionRules, type Host } from './destination.ts';
import { HostHealth } from './host-health.ts';
import type { RelayLimits } from './limits.ts';
import { openSession } from './open-session.ts';
import { RelaySession } from './session.ts';
import { findSmarthostPolicy } from './smarthost-policy.ts';
import type { FindHostPolicy, TlsRequirement } from './tls-policy/policy.ts';
import { deferred, type AttemptVerdict } from './attempt-verdict.ts';
import { BOX_SMARTHOST } from './next-hop.ts';
import type { Smarthost } from './smarthost-policy.ts';

/** A smarthost that rejects its login. */
export interface RefusedLogin {
  id: number;
  host: string;
  why: string;
  /** First rejection, ms UTC. */
  since: number;
}

export interface SmarthostOptions {
  /** Finds a smarthost; undefined if deleted. A rejection defers. */
  find(id: number): Promise<Smarthost | undefined>;
  rules: ConnectionRules;
  /** EHLO name. */
  hostname: string;
  /** Source addresses; undefined: the system chooses. */
  from?: OwnAddresses | undefined;
  /** TLSA policies of smarthosts; left out: no DANE. */
  dane?: FindHostPolicy | undefined;
  limits: RelayLimits;
  clock: RelayClock;
  log: Log;
  meter: Meter;
}

/** Pause after a rejected login, ms: repeated attempts may lock the account. */
const REFUSED_LOGIN_PAUSE_MS = 5 * 60_000;

/**
 * Opens sessions with smarthosts. All failures defer: mail must not bounce for a wrong setting. Host health is separate from
 * that of direct delivery.
 */
export class Smarthosts {
  readonly #options: SmarthostOptions;
  readonly #hosts: HostHealth;
  readonly #families: AddressFamilies;
  readonly #connections = new Set<Connection>();
  readonly #refused = new Map<number, RefusedLogin & { until: number; login: string }>();
  #stopping = false;

  constructor(options: SmarthostOptions) {
    this.#options = options;
    const monotonic = (): number => options.clock.monotonic();
    this.#hosts = new HostHealth(monotonic, options.limits.hostBackoff);
    this.#families = new AddressFamilies(options.from, monotonic);
  }

  /** Lists smarthosts that currently reject their login. */
  refusedLogins(): RefusedLogin[] {
    return [...this.#refused.values()].map(({ id, host, why, since }) => ({ id, host, why, since }));
  }

  /** Opens a session with a smarthost for mail with this TLS requirement. Never rejects. */
  async connect(id: number, requirement: TlsRequirement = 'policy'): Promise<RelaySession | ConnectFailure> {
    try {
      const smarthost = await this.#options.find(id);
      if (this.#stopping) return smarthostFailure('4.3.2', 'this server is stopping');
      if (smarthost === undefined) {
        this.#refused.delete(id);
        return smarthostFailure('4.3.5', 'the route of this mail was deleted');
      }
      const refusal = this.#refused.get(id);
      const known = refusal?.login === loginKey(smarthost) && refusal.until > this.#options.clock.monotonic();
      return known ? smarthostFailure('4.7.8', refusal.why) : await this.#reach(smarthost, requirement);
    } catch (error) {
      this.#options.log.error({ err: error, smarthost: id }, 'failed to read a smarthost from the store');
      return smarthostFailure('4.3.0', 'the smarthost of this mail could not be read from the store');
    }
  }

  destroy(): void {
    this.#stopping = true;
    for (const connection of this.#connections) connection.destroy('this server is stopping');
  }

  async #reach(smarthost: Smarthost, requirement: TlsRequirement): Promise<RelaySession | ConnectFailure> {
    const { rules, limits } = this.#options;
    const { host: name, port } = smarthost;
    // The operator configured this host, so private addresses are allowed.
    const own = smarthost.id === BOX_SMARTHOST ? { allowPrivate: () => true } : {};
    const found = await findHost(name, { ...rules, ...own, port, isOurName: () => false });
    if (found.kind !== 'hosts') return smarthostFailure('4.4.3', `the smarthost ${name} cannot be used: ${found.text}`);
    const { hosts, resting, why } = this.#hosts.choose(this.#families.orderHosts(found.hosts));
    let last =
      resting === undefined ? undefined : smarthostFailure('4.4.1', `the smarthost does not answer: ${why}`, resting);
    for (const host of hosts.slice(0, limits.hosts)) {
      const opened = await this.#open(host, smarthost, requirement);
      if (opened instanceof RelaySession) return opened;
      last = opened;
    }
    return last ?? smarthostFailure('4.4.1', `the smarthost ${name} has no address to try`);
  }

  async #open(host: Host, smarthost: Smarthost, requirement: TlsRequirement): Promise<RelaySession | ConnectFailure> {
    const { hostname, limits, meter } = this.#options;
    const { login, tls } = smarthost;
    const { timeouts } = limits;
    const policy = await findSmarthostPolicy(smarthost, host, requirement, this.#options.dane);
    if ('kind' in policy) return { verdict: policy.verdict, host, tlsResults: [] };
    const opened = await openSession(host, {
      hostname,
      timeouts,
      implicitTls: tls === 'implicit',
      policy,
      requirement,
      from: this.#families.sourceAddress(host),
      onConnection: (connection) => this.#watch(connection),
      ...(login !== undefined && {
        login: (connection, offers) => logInToServer(connection, offers, login, timeouts.command),
      }),
    });
    meter.count('relay_smarthost_sessions_total', { result: opened instanceof RelaySession ? 'open' : 'none' });
    if (!(opened instanceof RelaySession)) return this.#failed(host, smarthost, opened.verdict, opened.dead);
    opened.tlsResults = []; // TLS-RPT is about receivers
    this.#hosts.markWorking(host);
    if (this.#refused.delete(smarthost.id)) {
      this.#options.log.info({ smarthost: smarthost.host }, 'smarthost login accepted again');
    }
    return opened;
  }

  #failed(host: Host, smarthost: Smarthost, verdict: AttemptVerdict, dead: boolean): ConnectFailure {
    const { clock, log } = this.#options;
    if (dead) this.#hosts.dead(host, verdict.text);
    const { id } = smarthost;
    if (verdict.status === '4.7.8') {
      const known = this.#refused.get(id);
      const since = known?.since ?? clock.now();
      const until = clock.monotonic() + REFUSED_LOGIN_PAUSE_MS;
      this.#refused.set(id, { id, host: smarthost.host, why: verdict.text, since, until, login: loginKey(smarthost) });
      // One log line, not one per message.
      if (known?.login !== loginKey(smarthost))
        log.error({ smarthost: smarthost.host, why: verdict.text }, LOGIN_REFUSED);
    }
    const { status, text, code } = verdict;
    // REQUIRETLS that the smarthost does not support fails: that is no wrong setting. RFC 8689 4.2.1.
    const ours = verdict.outcome === 'failed' && !/^5\.7\.(?:10|30)$/.test(status);
    const kept = ours ? deferred(status.replace(/^5/, '4'), text, code) : verdict;
    return { verdict: kept, host, tlsResults: [] };
  }

  #watch(connection: Connection): void {
    if (this.#stopping) return connection.destroy('this server is stopping');
    this.#connections.add(connection);
    connection.onClosed(() => this.#connections.delete(connection));
  }
}

const LOGIN_REFUSED = 'smarthost rejected the login, mail is deferred until user name and password are corrected';

/** Key of a login; a changed login is tried at once. */
function loginKey({ host, port, login }: Smarthost): string {
  return JSON.stringify([host, port, login?.username, login?.password]);
}

function smarthostFailure(status: string, text: string, host?: Host): ConnectFailure {
  return { verdict: deferred(status, text), host, tlsResults: [] };
}
