import type { Log, Meter } from '../log.ts';
import { authenticate, type SmarthostLogin } from './authenticate.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';
import type { Unreached } from './connector.ts';
import { Families, type OwnAddresses } from './families.ts';
import { findHost, type DestinationRules, type Host } from './destination.ts';
import { HostMemory } from './host-memory.ts';
import type { RelayLimits } from './limits.ts';
import { openSession } from './open-session.ts';
import { Session } from './session.ts';
import { smarthostPolicy } from './smarthost-policy.ts';
import type { FindHostPolicy, TlsWish } from './tls-policy/policy.ts';
import { deferred, type Verdict } from './verdict.ts';
import { BOX_SMARTHOST } from './ways.ts';

/** A server that takes mail for anywhere and passes it on. */
export interface Smarthost {
  /** Of its route; {@link BOX_SMARTHOST} is the operator's own. */
  id: number;
  host: string;
  port: number;
  tls: 'implicit' | 'starttls';
  /** Whether a login is sent only where the certificate is good for the name. */
  certificate: 'verified' | 'any';
  login: SmarthostLogin | undefined;
}

/** A smarthost that refuses its login. */
export interface RefusedLogin {
  id: number;
  host: string;
  why: string;
  /** Since when, ms UTC. */
  since: number;
}

export interface SmarthostOptions {
  /** Undefined: it is there no more. Rejecting means "later". */
  find(id: number): Promise<Smarthost | undefined>;
  rules: DestinationRules;
  /** Our name in EHLO. */
  hostname: string;
  /** Our addresses, where it matters which of them mail leaves from. */
  from?: OwnAddresses | undefined;
  /** What TLSA records of smarthosts demand; without it there is no DANE. */
  dane?: FindHostPolicy | undefined;
  limits: RelayLimits;
  clock: Clock;
  log: Log;
  meter: Meter;
}

/** How long a smarthost that refused a login is not asked again with the same one, ms: it may lock the account. */
const AFTER_REFUSAL = 5 * 60_000;

/**
 * Opens sessions with smarthosts. Whatever goes wrong there is "later": mail must not bounce for a setting of ours. What
 * is open or resting here says nothing about receivers' own servers, so it is remembered apart.
 */
export class Smarthosts {
  readonly #options: SmarthostOptions;
  readonly #hosts: HostMemory;
  readonly #families: Families;
  readonly #connections = new Set<Connection>();
  readonly #refused = new Map<number, RefusedLogin & { until: number; login: string }>();
  #stopping = false;

  constructor(options: SmarthostOptions) {
    this.#options = options;
    const monotonic = (): number => options.clock.monotonic();
    this.#hosts = new HostMemory(monotonic, options.limits.hostRest);
    this.#families = new Families(options.from, monotonic);
  }

  /** Those that refuse their login now. */
  refused(): RefusedLogin[] {
    return [...this.#refused.values()].map(({ id, host, why, since }) => ({ id, host, why, since }));
  }

  /** A session with a smarthost, for mail with this wish. Never rejects. */
  async connect(id: number, wish: TlsWish = 'policy'): Promise<Session | Unreached> {
    try {
      const smarthost = await this.#options.find(id);
      if (this.#stopping) return unreached('4.3.2', 'this server is stopping');
      if (smarthost === undefined) {
        this.#refused.delete(id);
        return unreached('4.3.5', 'the route of this mail is not there any more');
      }
      const waiting = this.#refused.get(id);
      const known = waiting?.login === keyOf(smarthost) && waiting.until > this.#options.clock.monotonic();
      return known ? unreached('4.7.8', waiting.why) : await this.#reach(smarthost, wish);
    } catch (error) {
      this.#options.log.error({ err: error, smarthost: id }, 'a smarthost could not be read from the store');
      return unreached('4.3.0', 'the smarthost of this mail could not be read from the store');
    }
  }

  destroy(): void {
    this.#stopping = true;
    for (const connection of this.#connections) connection.destroy('this server is stopping');
  }

  async #reach(smarthost: Smarthost, wish: TlsWish): Promise<Session | Unreached> {
    const { rules, limits } = this.#options;
    const { host: name, port } = smarthost;
    // What the operator has named, the operator allows.
    const own = smarthost.id === BOX_SMARTHOST ? { allowPrivate: () => true } : {};
    const found = await findHost(name, { ...rules, ...own, port, isOurName: () => false });
    if (found.kind !== 'hosts') return unreached('4.4.3', `the smarthost ${name} cannot be used: ${found.text}`);
    const { hosts, resting, why } = this.#hosts.choose(this.#families.order(found.hosts));
    let last = resting === undefined ? undefined : unreached('4.4.1', `the smarthost does not answer: ${why}`, resting);
    for (const host of hosts.slice(0, limits.hosts)) {
      const opened = await this.#open(host, smarthost, wish);
      if (opened instanceof Session) return opened;
      last = opened;
    }
    return last ?? unreached('4.4.1', `the smarthost ${name} has no address to try`);
  }

  async #open(host: Host, smarthost: Smarthost, wish: TlsWish): Promise<Session | Unreached> {
    const { hostname, limits, meter } = this.#options;
    const { login, tls } = smarthost;
    const { timeouts } = limits;
    const policy = await smarthostPolicy(smarthost, host, wish, this.#options.dane);
    if ('kind' in policy) return { verdict: policy.verdict, host, tlsResults: [] };
    const opened = await openSession(host, {
      hostname,
      timeouts,
      implicitTls: tls === 'implicit',
      policy,
      wish,
      from: this.#families.from(host),
      onConnection: (connection) => this.#watch(connection),
      ...(login !== undefined && {
        login: (connection, offers) => authenticate(connection, offers, login, timeouts.command),
      }),
    });
    meter.count('relay_smarthost_sessions_total', { result: opened instanceof Session ? 'open' : 'none' });
    if (!(opened instanceof Session)) return this.#failed(host, smarthost, opened.verdict, opened.dead);
    opened.tlsResults = []; // TLS-RPT is about receivers
    this.#hosts.works(host);
    if (this.#refused.delete(smarthost.id)) {
      this.#options.log.info({ smarthost: smarthost.host }, 'the smarthost takes our login again');
    }
    return opened;
  }

  #failed(host: Host, smarthost: Smarthost, verdict: Verdict, dead: boolean): Unreached {
    const { clock, log } = this.#options;
    if (dead) this.#hosts.dead(host, verdict.text);
    const { id } = smarthost;
    if (verdict.status === '4.7.8') {
      const known = this.#refused.get(id);
      const since = known?.since ?? clock.now();
      const until = clock.monotonic() + AFTER_REFUSAL;
      this.#refused.set(id, { id, host: smarthost.host, why: verdict.text, since, until, login: keyOf(smarthost) });
      // One line, not one a message.
      if (known?.login !== keyOf(smarthost)) log.error({ smarthost: smarthost.host, why: verdict.text }, LOGIN_REFUSED);
    }
    const { status, text, code } = verdict;
    // What the sender demanded, and the way does not have, is no setting of ours. RFC 8689 4.2.1.
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

const LOGIN_REFUSED = 'the smarthost refuses our login: mail waits until the user name and password are right';

/** A changed login is tried at once. */
function keyOf({ host, port, login }: Smarthost): string {
  return JSON.stringify([host, port, login?.username, login?.password]);
}

function unreached(status: string, text: string, host?: Host): Unreached {
  return { verdict: deferred(status, text), host, tlsResults: [] };
}
