import type { Address } from '../message/address.ts';

/** One password of an account: its own, or an app password. */
export interface Credential {
  readonly id: number;
  /** SCRAM-SHA-256 keys, 32 octets each. RFC 5802 3. */
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
  /** Scopes: `imap`, `smtp` (submission), `jmap`; `read-only` denies writes in all of them. */
  readonly scopes: readonly string[];
  /** Expiry, ms UTC, or null for never. */
  readonly expiresAt: number | null;
}

/** An account with its credentials, which share salt and iteration count so that one proof can be checked against each. */
export interface AccountCredentials {
  readonly account: number;
  /** Organization that owns the account; left out: it counts as one of its own. */
  readonly tenant?: number;
  /** The account's own address. */
  readonly address: Address;
  /** 16 octets, and 4,096 iterations for every account: other values would reveal which accounts exist. */
  readonly salt: Buffer;
  readonly iterations: number;
  readonly credentials: readonly Credential[];
}

/** Access of logins to stored credentials. */
export interface CredentialSource {
  /** Finds an account by its `addressKey`. Undefined when no account can log in with it. */
  find(user: string): Promise<AccountCredentials | undefined>;
  /** Records the time (ms UTC) of a login, in memory; written every 30 s. */
  used(credential: number, at: number): void;
}
