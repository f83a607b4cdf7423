import type { Address } from '../message/address.ts';

/** One password of an account: its own, or an app password. */
export interface Credential {
  readonly id: number;
  /** SCRAM-SHA-256 keys, 32 octets each. RFC 5802 3. */
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
  /** What it opens: `imap` (reading and filing), `smtp` (submission), `jmap`; `read-only` takes filing away. */
  readonly scopes: readonly string[];
  /** Milliseconds UTC from which it opens nothing, or null for never. */
  readonly expiresAt: number | null;
}

/** An account with all its credentials, which share one salt and count so that one proof can be tried against each. */
export interface AccountCredentials {
  readonly account: number;
  /** The account's own address. */
  readonly address: Address;
  /** 16 octets and 4,096 rounds for every account: other values would tell accounts that exist from those that do not. */
  readonly salt: Buffer;
  readonly iterations: number;
  readonly credentials: readonly Credential[];
}

/** What logins need of the store. */
export interface CredentialSource {
  /** `user` is an address as `addressKey` writes it. Undefined when no account may log in under it. */
  find(user: string): Promise<AccountCredentials | undefined>;
  /** Notes the time (ms UTC) of a login. Kept in memory and written every 30 s, so it costs a login nothing. */
  used(credential: number, at: number): void;
}
