import { type MemoryHolder, organizationHolder } from '../limits/memory-budget.ts';
import type { ChannelBinding } from './channel-binding.ts';
import type { Address } from '../message/address.ts';

/** A logged-in user. Created only from a verified credential. */
export interface Login {
  readonly account: number;
  /** Organization that owns the account. */
  readonly tenant?: number;
  /** The account's own address; also its login name. */
  readonly address: Address;
  /** The credential used: rotating or revoking it ends the session. */
  readonly credential: number;
  /** Expiry of the credential and the session, ms UTC. */
  readonly expiresAt?: number;
  /** True when writes are denied. */
  readonly readOnly?: boolean;
  /** Set for a login by token: its row, and its public id. `credential` is then 0. */
  readonly token?: { readonly id: number; readonly actor: string; readonly protocol: 'imap' | 'submission' | 'jmap' };
}

/** The holder of the memory that a session uses: the organization of its account. */
export function memoryHolderOf({ account, tenant }: Login): MemoryHolder {
  return tenant === undefined ? `account ${account}` : organizationHolder(tenant);
}

/** The client of a login attempt. */
export interface Peer {
  /** Remote IP address as text. */
  readonly ip: string;
  readonly protocol: 'imap' | 'submission' | 'jmap';
  /** True when the connection is encrypted (or is a loopback connection in local mode). */
  readonly secure: boolean;
  /** Channel bindings of TLS; undefined without TLS. */
  readonly channelBinding?: ChannelBinding | undefined;
}

export type LoginOutcome =
  | { kind: 'in'; login: Login }
  /** Unknown user or wrong password: indistinguishable, also in time. */
  | { kind: 'wrong' }
  /** Too many failures from this address or for this account; `retryAfter` in seconds. */
  | { kind: 'throttled'; retryAfter: number }
  /** The key derivation queue is full: 454 and [UNAVAILABLE]. */
  | { kind: 'busy' }
  /** The password is right but access is disabled; `why` is shown to the client. Not counted as a failure. */
  | { kind: 'barred'; why: string }
  /** The client violated the mechanism, or cancelled with `*`. */
  | { kind: 'malformed'; why: string };

export type SaslStep = { kind: 'challenge'; data: Buffer } | LoginOutcome;

/** One SASL exchange, on decoded octets; the protocol server does the base64. RFC 4422. */
export interface SaslExchange {
  /** `response` is the initial response on the first call when the client sent one. */
  step(response: Buffer | undefined): Promise<SaslStep>;
}

/** Logins, as every protocol server uses them. */
export interface Logins {
  /** SASL mechanism names to offer, strongest first; none when the connection is not secure. */
  mechanisms(peer: Peer): readonly string[];
  /** Undefined when the mechanism is unknown or not offered to this peer. */
  start(mechanism: string, peer: Peer): SaslExchange | undefined;
  /** The IMAP LOGIN command. */
  password(user: string, password: string, peer: Peer): Promise<LoginOutcome>;
  /** Calls back when the session must end because its credential was rotated or revoked, or has expired. */
  onRevoked(login: Login, end: () => void): () => void;
}

/** Logins whose sessions outlive a connection. */
export interface SessionLogins extends Logins {
  /**
   * Continues a session that a login began earlier: `read` finds it, undefined when it has ended. The caller checks that it
   * is not barred. Without it, {@link onRevoked} would take an old revocation for a new one.
   */
  resume<L extends { login: Login }>(read: () => Promise<L | undefined>): Promise<L | undefined>;
}
