import type { Address } from '../message/address.ts';

/** Who is logged in. Made only by a verified credential. */
export interface Login {
  readonly account: number;
  /** The account's own address; also its login name. */
  readonly address: Address;
  /** The credential row that let it in: rotating or revoking that row ends the session. */
  readonly credential: number;
  /** When the credential expires, ms UTC; the session ends then. */
  readonly expiresAt?: number;
  /** It may read and nothing else. */
  readonly readOnly?: boolean;
}

/** Where a login attempt comes from. */
export interface Peer {
  /** Remote IP address as text. */
  readonly ip: string;
  readonly door: 'imap' | 'submission' | 'jmap';
  /** True when the connection is encrypted (or is a loopback connection in local mode). */
  readonly secure: boolean;
}

export type LoginOutcome =
  | { kind: 'in'; login: Login }
  /** Unknown user and wrong password are the same answer, in the same time. */
  | { kind: 'wrong' }
  /** Too many failures from this address or for this account; `retryAfter` in seconds. */
  | { kind: 'throttled'; retryAfter: number }
  /** The key derivation queue is full: 454 and [UNAVAILABLE]. */
  | { kind: 'busy' }
  /** The password is right, and opens nothing now; `why` says so to whoever has it. It is no failure. */
  | { kind: 'barred'; why: string }
  /** The client sent something that is not this mechanism, or cancelled with `*`. */
  | { kind: 'malformed'; why: string };

export type SaslStep = { kind: 'challenge'; data: Buffer } | LoginOutcome;

/** One SASL exchange. Bytes are already base64-decoded; the door does the encoding. RFC 4422. */
export interface SaslExchange {
  /** `response` is the initial response on the first call when the client sent one. */
  step(response: Buffer | undefined): Promise<SaslStep>;
}

/** What every door needs of logins. */
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
