import { addressKey, parseAddress } from '../message/address.ts';
import type { AccountCredentials, Credential, CredentialSource } from './credentials.ts';
import type { Revocations } from './revocations.ts';
import { networkOf } from '../guard/network.ts';
import { accountKeyOf } from './throttle.ts';
import type { LoginAttempt } from './throttle.ts';
import type { Peer } from './types.ts';
import { hmac, ITERATIONS, SALT_BYTES } from './verifier.ts';

/** The data to verify a login as one user. Indistinguishable for users that do not exist. */
export interface LoginCandidate {
  readonly attempt: LoginAttempt;
  readonly user: AccountCredentials | undefined;
  /** Credentials that are valid now for this protocol. */
  readonly usable: readonly Credential[];
  readonly salt: Buffer;
  readonly iterations: number;
  /** See {@link Revocations.generation}. */
  readonly generation: number;
}

/** The scope that a credential needs for each protocol. */
const REQUIRED_SCOPES: Readonly<Record<Peer['protocol'], string>> = { imap: 'imap', submission: 'smtp', jmap: 'jmap' };

/** Looks up login candidates by user name. */
export class LoginCandidates {
  readonly #source: CredentialSource;
  readonly #secret: Buffer;
  readonly #clock: () => number;
  readonly #revocations: Revocations;

  /** `secret` derives the salts of users that do not exist. */
  constructor(source: CredentialSource, secret: Buffer, clock: () => number, revocations: Revocations) {
    this.#source = source;
    this.#secret = secret;
    this.#clock = clock;
    this.#revocations = revocations;
  }

  async find(peer: Peer, user: string): Promise<LoginCandidate> {
    const { generation } = this.#revocations; // read before the credentials, or a revocation in between would be missed
    const key = userKey(user);
    const account = key === undefined ? undefined : await this.#source.find(key);
    const now = this.#clock();
    const usable = (account?.credentials ?? []).filter(
      (one) => one.scopes.includes(REQUIRED_SCOPES[peer.protocol]) && (one.expiresAt === null || one.expiresAt > now),
    );
    const salt = account?.salt ?? this.#fake('salt', user).subarray(0, SALT_BYTES);
    return {
      attempt: attemptOf(peer, user),
      user: account,
      usable,
      salt,
      iterations: account?.iterations ?? ITERATIONS,
      generation,
    };
  }

  /** Reads the credentials again when one was revoked since, so that no login outlives its credential. */
  async current(peer: Peer, user: string, candidate: LoginCandidate): Promise<LoginCandidate> {
    return candidate.generation === this.#revocations.generation ? candidate : this.find(peer, user);
  }

  /** The keys to check a proof against; a fake one for an unknown user, so that the work is the same. */
  keysToTry(candidate: LoginCandidate, user: string): readonly Pick<Credential, 'storedKey'>[] {
    return candidate.usable.length > 0 ? candidate.usable : [{ storedKey: this.#fake('stored key', user) }];
  }

  #fake(purpose: string, user: string): Buffer {
    return hmac(this.#secret, `${purpose}\0${userKey(user) ?? user}`);
  }
}

/**
 * The account key of a user name, or undefined when it is not an address. A bare local part is not accepted: with several
 * domains it would be ambiguous.
 */
export function userKey(user: string): string | undefined {
  const address = parseAddress(user);
  return address && addressKey(address);
}

/** The throttle keys of an attempt. */
export function attemptOf(peer: Peer, user: string): LoginAttempt {
  const key = userKey(user);
  return { network: networkOf(peer.ip), account: key === undefined ? undefined : accountKeyOf(key) };
}

// RFC 4616 2: the authorization identity must be the user; acting for another user is not supported.
export function isSelf(user: string, authzid: string | undefined): boolean {
  return authzid === undefined || (userKey(authzid) ?? authzid) === (userKey(user) ?? user);
}
