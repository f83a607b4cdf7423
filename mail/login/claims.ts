import { addressKey, parseAddress } from '../message/address.ts';
import type { AccountCredentials, Credential, CredentialSource } from './needs.ts';
import type { Revocations } from './revocations.ts';
import { networkOf } from '../guard/network.ts';
import { accountKeyOf } from './throttle.ts';
import type { Attempt } from './throttle.ts';
import type { Peer } from './types.ts';
import { hmac, ITERATIONS, SALT_BYTES } from './verifier.ts';

/** A user name as it was given, and what is known of it. Looks the same for a user that does not exist. */
export interface Claim {
  readonly attempt: Attempt;
  readonly known: AccountCredentials | undefined;
  /** The known credentials that open this door now. */
  readonly usable: readonly Credential[];
  readonly salt: Buffer;
  readonly iterations: number;
  /** See {@link Revocations.age}. */
  readonly age: number;
}

/** The scope that a credential needs at each door. */
const SCOPES: Readonly<Record<Peer['door'], string>> = { imap: 'imap', submission: 'smtp', jmap: 'jmap' };

/** Turns user names into claims. */
export class Claims {
  readonly #source: CredentialSource;
  readonly #secret: Buffer;
  readonly #clock: () => number;
  readonly #revocations: Revocations;

  /** `secret` makes the salts of users that do not exist. */
  constructor(source: CredentialSource, secret: Buffer, clock: () => number, revocations: Revocations) {
    this.#source = source;
    this.#secret = secret;
    this.#clock = clock;
    this.#revocations = revocations;
  }

  async find(peer: Peer, user: string): Promise<Claim> {
    const { age } = this.#revocations; // before the credentials are read, or a revocation in between would be missed
    const key = userKey(user);
    const known = key === undefined ? undefined : await this.#source.find(key);
    const now = this.#clock();
    const usable = (known?.credentials ?? []).filter(
      (one) => one.scopes.includes(SCOPES[peer.door]) && (one.expiresAt === null || one.expiresAt > now),
    );
    const salt = known?.salt ?? this.#fake('salt', user).subarray(0, SALT_BYTES);
    return { attempt: attemptOf(peer, user), known, usable, salt, iterations: known?.iterations ?? ITERATIONS, age };
  }

  /** Reads the credentials again when one was revoked since, so that no login outlives its credential. */
  async current(peer: Peer, user: string, claim: Claim): Promise<Claim> {
    return claim.age === this.#revocations.age ? claim : this.find(peer, user);
  }

  /** The credentials to try a proof against: one that nobody has when there is none, so that the work is the same. */
  tried(claim: Claim, user: string): readonly Pick<Credential, 'storedKey'>[] {
    return claim.usable.length > 0 ? claim.usable : [{ storedKey: this.#fake('stored key', user) }];
  }

  #fake(purpose: string, user: string): Buffer {
    return hmac(this.#secret, `${purpose}\0${userKey(user) ?? user}`);
  }
}

/**
 * The account that a user name means, or undefined when it is not an address. A bare local part is not accepted: on a
 * box with several domains it would be a guess whose mailbox is meant.
 */
export function userKey(user: string): string | undefined {
  const address = parseAddress(user);
  return address && addressKey(address);
}

/** How an attempt is counted. */
export function attemptOf(peer: Peer, user: string): Attempt {
  const key = userKey(user);
  return { network: networkOf(peer.ip), account: key === undefined ? undefined : accountKeyOf(key) };
}

// RFC 4616 2: acting for another user is not offered, so an authorization name must be the login's own.
export function isSelf(user: string, authzid: string | undefined): boolean {
  return authzid === undefined || (userKey(authzid) ?? authzid) === (userKey(user) ?? user);
}
