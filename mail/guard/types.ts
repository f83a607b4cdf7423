import type { Ban } from '../store/limit/ban.ts';

/** Protocols with a common connection limit. */
export type Protocol = 'smtp' | 'imap' | 'http';

/** By whom logged-in connections are counted: the number of an account, or a token. */
export type LoginKey = number | string;

/**
 * Kinds of offences. `logins`: wrong passwords, and attempts from unknown networks while throttled; `recipients`: unknown
 * recipients; `scans`: another protocol, or requests of vulnerability scanners; `loitering`: connections without a
 * transaction or login, closed by a timeout.
 */
export type Offence = 'logins' | 'recipients' | 'scans' | 'loitering';

export type ConnectionDecision =
  | { kind: 'in' }
  /** Connection limit of the protocol reached. */
  | { kind: 'full' }
  /** Connection limit of the network or its neighborhood reached. */
  | { kind: 'too-many' }
  /** Connection rate limit reached; `retryAfter` in seconds. */
  | { kind: 'too-fast'; retryAfter: number }
  | { kind: 'banned'; ban: Ban };

/** Connection limits and bans. All protocol servers share one, so that the limits are common. */
export interface ConnectionGuard {
  /** Counts a connection, or returns the reason to refuse it. A counted one must {@link leave} under the same address. */
  enter(protocol: Protocol, ip: string): ConnectionDecision;
  leave(protocol: Protocol, ip: string, account?: LoginKey): void;
  /** Counts an open connection by its account instead of by its address. True: {@link leave} with this account. */
  logIn(protocol: Protocol, ip: string, account: LoginKey): boolean;
  /** Open connections of a protocol as a fraction of its limit; above 1 with exempt clients. */
  utilization(protocol: Protocol): number;
  /** Counts an offence of an address; enough of them in a day cause a ban. */
  addOffence(ip: string, offence: Offence): void;
  /** Exempts an address from bans for a day, after a successful login. */
  welcome(ip: string): void;
}

/** The guard of the SMTP receiver, with limits of unauthenticated mail. */
export interface MailGuard extends ConnectionGuard {
  /** Seconds until the address may send again; 0: now. */
  retryAfter(ip: string): number;
  /** Counts a message, complete or not. `accepted`: it was delivered. */
  countMessage(ip: string, octets: number, accepted: boolean): void;
}
