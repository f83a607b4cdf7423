import { KeyedSemaphore, type SemaphoreKeys } from '../limits/keyed-semaphore.ts';
import { neighborhoodOf, networkOf } from './network.ts';
import type { LoginKey, Protocol } from './types.ts';

export interface ConnectionLimits {
  /** Open connections of all clients, by protocol. */
  total: Readonly<Record<Protocol, number>>;
  /** Open connections of one network (IPv4 address or IPv6 /64) to one protocol, and to all protocols. */
  perNetwork: number;
  perNetworkTotal: number;
  /** Factor of these limits for the neighborhood: an IPv4 /26, an IPv6 /48. */
  neighborhoodFactor: number;
  /** Logged-in connections of one account to one protocol that do not count by network. */
  perAccount: number;
}

/** Share of a protocol's connections that logins of one neighborhood may have: an account for everybody fills no server. */
const LOGIN_SHARE = 1 / 4;

type LimitDimension = 'network' | 'networkTotal' | 'neighborhood' | 'neighborhoodTotal';
type LoginDimension = 'account' | 'neighborhood';

/**
 * Limits open connections by protocol, and by client network before the login and by account after it, so that one client
 * cannot use up a protocol and an office behind one address is not taken for one client.
 */
export class ConnectionLimiter {
  readonly #total: ConnectionLimits['total'];
  readonly #open: Record<Protocol, number> = { smtp: 0, imap: 0, http: 0 };
  /** Bounded by the open connections. */
  readonly #byNetwork: KeyedSemaphore<LimitDimension>;
  readonly #loggedIn: KeyedSemaphore<LoginDimension>;

  constructor({ total, perNetwork, perNetworkTotal, neighborhoodFactor, perAccount }: ConnectionLimits) {
    this.#total = total;
    this.#byNetwork = new KeyedSemaphore({
      network: perNetwork,
      networkTotal: perNetworkTotal,
      neighborhood: perNetwork * neighborhoodFactor,
      neighborhoodTotal: perNetworkTotal * neighborhoodFactor,
    });
    this.#loggedIn = new KeyedSemaphore({ account: perAccount, neighborhood: Infinity });
  }

  /** Counts a connection, or returns the limit reached. Exempt clients have only the protocol's limit, doubled. */
  enter(protocol: Protocol, ip: string, exempt: boolean): 'in' | 'full' | 'too-many' {
    if (this.utilization(protocol) >= (exempt ? 2 : 1)) return 'full';
    if (!exempt && this.#byNetwork.tryAcquire(keysOf(protocol, ip)) === undefined) return 'too-many';
    this.#open[protocol] += 1;
    return 'in';
  }

  /**
   * Counts a connection by its account from now on, until {@link leave} with that account. False: the account or its
   * neighborhood has enough of them, and the connection still counts by network.
   */
  logIn(protocol: Protocol, ip: string, account: LoginKey): boolean {
    const keys = loginKeys(protocol, ip, account);
    const most = this.#total[protocol] * LOGIN_SHARE;
    if (this.#loggedIn.count('neighborhood', keys.neighborhood) >= most) return false;
    if (this.#loggedIn.tryAcquire(keys) === undefined) return false;
    this.#byNetwork.release(keysOf(protocol, ip));
    return true;
  }

  /** Removes a connection counted by {@link enter}, or by {@link logIn} if an account is given. */
  leave(protocol: Protocol, ip: string, exempt: boolean, account?: LoginKey): void {
    this.#open[protocol] -= 1;
    if (account !== undefined) this.#loggedIn.release(loginKeys(protocol, ip, account));
    else if (!exempt) this.#byNetwork.release(keysOf(protocol, ip));
  }

  /** Open connections of a protocol as a fraction of its limit. */
  utilization(protocol: Protocol): number {
    return this.#open[protocol] / this.#total[protocol];
  }

  /** Number of keys in memory: only of connected networks. */
  get size(): number {
    return this.#byNetwork.size + this.#loggedIn.size;
  }
}

function keysOf(protocol: Protocol, ip: string): SemaphoreKeys<LimitDimension> {
  const [networkTotal, neighborhoodTotal] = [networkOf(ip), neighborhoodOf(ip)];
  const [network, neighborhood] = [`${protocol} ${networkTotal}`, `${protocol} ${neighborhoodTotal}`];
  return { network, networkTotal, neighborhood, neighborhoodTotal };
}

function loginKeys(protocol: Protocol, ip: string, account: LoginKey): SemaphoreKeys<LoginDimension> {
  return { account: `${protocol} ${account}`, neighborhood: `${protocol} ${neighborhoodOf(ip)}` };
}
