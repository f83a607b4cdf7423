import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { deleteStale, deleteWhere, lruMap } from '../limits/lru-map.ts';
import type { AccountCredentials, Credential } from './credentials.ts';

const LIFETIME_MS = 10 * 60_000;
/** Entries; an evicted one costs a key derivation. */
const MAX_ENTRIES = 10_000;

interface VerifiedPassword {
  readonly account: number;
  readonly credential: number;
  readonly storedKey: Buffer;
  readonly until: number;
}

/**
 * Caches verified passwords for ten minutes, as a hash keyed with a secret of the process, so that a client which
 * reconnects every few seconds costs no key derivation. Wrong passwords are not cached.
 */
export class PasswordCache {
  readonly #key = randomBytes(32).toString('hex');
  readonly #verified = lruMap<string, VerifiedPassword>(MAX_ENTRIES);

  get size(): number {
    return this.#verified.size;
  }

  /** The credential that this password was verified against, if the account still has it unchanged. */
  find(found: AccountCredentials, password: string, now: number): Credential | undefined {
    const verified = this.#verified.get(this.#mac(found.account, password));
    if (!verified || verified.until <= now) return undefined;
    // Compared with the stored key: a rotation invalidates the entry even without drop().
    return found.credentials.find(
      (one) => one.id === verified.credential && timingSafeEqual(one.storedKey, verified.storedKey),
    );
  }

  add(account: number, credential: Credential, password: string, now: number): void {
    deleteStale(this.#verified, (one) => one.until <= now);
    const { id, storedKey } = credential;
    this.#verified.set(this.#mac(account, password), { account, credential: id, storedKey, until: now + LIFETIME_MS });
  }

  drop(account: number): void {
    deleteWhere(this.#verified, (one) => one.account === account);
  }

  #mac(account: number, password: string): string {
    // A plain hash: the digest never leaves the process (no length extension), and an HMAC costs ten times as much.
    return hash('sha256', `${this.#key}\0${account}\0${password}`, 'base64');
  }
}
